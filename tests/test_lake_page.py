"""The page on sources says of lake tables what the tests of lakes say."""

from lake_page import PAGE, written


def test_the_page_is_what_the_tests_of_lakes_say() -> None:
    assert PAGE.read_text("utf-8") == written(), "run PYTHONPATH=tests python scripts/write_lake_page.py"
