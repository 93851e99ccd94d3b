"""An Iceberg catalog by HTTP in this process: what Spark asks for of the REST protocol, in pyiceberg's classes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

from pyiceberg.catalog.rest import CreateTableRequest
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.serializers import ToOutputFile
from pyiceberg.table import CommitTableRequest
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.table.update import update_table_metadata


class Catalog:
    """Where each table's metadata are now, by its name."""

    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse
        self._tables: dict[str, tuple[str, TableMetadata]] = {}

    def answer(self, method: str, path: str, body: bytes) -> dict[str, Any] | None:
        """What a request is answered, if anything; KeyError where it is about a table that is not here."""
        match method, path.split("/")[2:]:
            case "GET", ["config"]:
                return {"defaults": {}, "overrides": {}}
            case "GET", ["namespaces", name]:
                return {"namespace": [name]}
            case "GET", [*_, "tables", name]:
                return self._table(name)
            case "DELETE", [*_, "tables", name]:
                del self._tables[name]
                return None
            case "POST", [*_, "tables"]:
                return self._create(CreateTableRequest.model_validate_json(body))
            case "POST", [*_, "tables", name]:
                return self._commit(name, body)
            case "POST", [*_, "metrics"]:
                return None
        raise KeyError(path)

    def _table(self, name: str) -> dict[str, Any]:
        location, metadata = self._tables[name]
        return {"metadata-location": location, "metadata": json.loads(metadata.model_dump_json())}

    def _create(self, wanted: CreateTableRequest) -> dict[str, Any]:
        metadata = new_table_metadata(
            wanted.table_schema,
            wanted.partition_spec or UNPARTITIONED_PARTITION_SPEC,
            wanted.write_order or UNSORTED_SORT_ORDER,
            f"file:{self._warehouse / wanted.name}",
            wanted.properties,
        )
        return self._keep(wanted.name, metadata)

    def _commit(self, name: str, body: bytes) -> dict[str, Any]:
        asked = json.loads(body)
        changes = CommitTableRequest.model_validate({"identifier": {"namespace": ["db"], "name": name}, **asked})
        location, metadata = self._tables[name]
        for requirement in changes.requirements:
            requirement.validate(metadata)
        return self._keep(name, update_table_metadata(metadata, changes.updates, metadata_location=location))

    def _keep(self, name: str, metadata: TableMetadata) -> dict[str, Any]:
        location = f"{metadata.location}/metadata/{uuid4()}.metadata.json"
        ToOutputFile.table_metadata(metadata, PyArrowFileIO().new_output(location))
        self._tables[name] = location, metadata
        return self._table(name)


class Handler(BaseHTTPRequestHandler):
    """Requests as the catalog of their server answers them."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            answer = self.server.catalog.answer(self.command, self.path.partition("?")[0], body)  # type: ignore[attr-defined]
            status = 204 if answer is None else 200
        except KeyError as error:
            status, answer = 404, {"error": {"message": str(error), "type": "NoSuchTableException", "code": 404}}
        sent = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - as its class calls them

    def log_message(self, *_: object) -> None:
        """Requests are no output of a test's."""


@contextmanager
def served(warehouse: Path) -> Iterator[str]:
    """The address of a catalog, as long as the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.catalog = Catalog(warehouse)  # type: ignore[attr-defined]
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
