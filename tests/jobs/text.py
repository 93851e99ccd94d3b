"""Names, phones, addresses: cleaning and matching text."""

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F


def _people(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            (1, "  Jöhn   SMITH ", "John.Smith+news@Example.COM ", "+49 (0)30 123-456", "12 Main St."),
            (2, "jon smyth", "jon@example.com", "030/123456", "12 MAIN STREET"),
            (3, "O'Brien, Mary-Jane", "bad@@mail", "", "Apt 4, 5th Ave"),
            (4, "", None, None, None),
            (5, None, "  ", "call me", "\t\n"),
            (6, "李 小龍", "li@例え.jp", "0086 10 8888", "ﬁne ﬂat №5"),
            (7, "JOHN SMITH", "john.smith@example.com", "0049-30-123456", "12 main st"),
        ],
        "id int, name string, email string, phone string, address string",
    )


def clean_names(spark: SparkSession) -> DataFrame:
    squeezed = F.trim(F.regexp_replace("name", r"\s+", " "))
    return _people(spark).select(
        "id",
        F.initcap(squeezed).alias("title"),
        F.upper(squeezed).alias("upper"),
        F.length(squeezed).alias("len"),
        F.translate(squeezed, "öäüÖ", "oauO").alias("ascii"),
        F.substring_index(squeezed, " ", 1).alias("first"),
        F.substring_index(squeezed, " ", -1).alias("last"),
        F.concat(F.substring(squeezed, 1, 1), F.lit(".")).alias("initial"),
        F.nullif(squeezed, F.lit("")).isNull().alias("missing"),
    )


def normalise_email(spark: SparkSession) -> DataFrame:
    mail = F.lower(F.trim("email"))
    local = F.regexp_replace(F.split(mail, "@")[0], r"\+.*$", "")
    valid = mail.rlike(r"^[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}$")
    return (
        _people(spark)
        .withColumn("valid", F.coalesce(valid, F.lit(False)))
        .withColumn("mail", F.when(valid, F.concat(local, F.lit("@"), F.element_at(F.split(mail, "@"), -1))))
        .withColumn("domain", F.regexp_extract(mail, "@([^@]+)$", 1))
        .withColumn("masked", F.regexp_replace(mail, "(^.)[^@]*(@.*$)", "$1***$2"))
        .select("id", "valid", "mail", "domain", "masked")
    )


def normalise_phone(spark: SparkSession) -> DataFrame:
    digits = F.regexp_replace("phone", r"\(0\)|[^0-9+]", "")
    e164 = (
        F.when(digits.startswith("+"), digits)
        .when(digits.startswith("00"), F.concat(F.lit("+"), digits.substr(F.lit(3), F.length(digits))))
        .when(
            digits.startswith("0"), F.concat(F.lit("+49"), F.expr("substring(regexp_replace(phone, '[^0-9+]', ''), 2)"))
        )
    )
    return _people(spark).select(
        "id", "phone", e164.alias("e164"), F.rpad(F.coalesce(digits, F.lit("")), 15, "*").alias("fixed")
    )


def fuzzy_match(spark: SparkSession) -> DataFrame:
    p = _people(spark).withColumn("key", F.lower(F.regexp_replace("name", "[^A-Za-z]", ""))).where("key <> ''")
    a, b = p.alias("a"), p.alias("b")
    dist = F.levenshtein(F.col("a.key"), F.col("b.key"))
    longest = F.greatest(F.length("a.key"), F.length("b.key"))
    return (
        a.join(b, F.col("a.id") < F.col("b.id"))
        .select(
            F.col("a.id").alias("id_a"),
            F.col("b.id").alias("id_b"),
            dist.alias("distance"),
            F.round(1 - dist / longest, 3).alias("similarity"),
            (F.soundex("a.key") == F.soundex("b.key")).alias("sounds_alike"),
        )
        .filter((F.col("similarity") > 0.5) | F.col("sounds_alike"))
    )


def match_by_tokens(spark: SparkSession) -> DataFrame:
    """Jaccard similarity of address words."""
    words = F.array_distinct(F.split(F.lower(F.regexp_replace("address", "[^A-Za-z0-9 ]", "")), " "))
    p = _people(spark).where("length(trim(address)) > 0").select("id", words.alias("w"))
    a, b = p.alias("a"), p.alias("b")
    inter = F.size(F.array_intersect("a.w", "b.w"))
    union = F.size(F.array_union("a.w", "b.w"))
    return (
        a.join(b, F.col("a.id") < F.col("b.id"))
        .select(F.col("a.id").alias("x"), F.col("b.id").alias("y"), F.round(inter / union, 4).alias("jaccard"))
        .where("jaccard >= 0.3")
    )


def word_count(spark: SparkSession) -> DataFrame:
    docs = spark.createDataFrame(
        [("The quick brown fox. The end!",), ("the FOX's den — über-quick",), ("",), (None,)], ["text"]
    )
    return (
        docs.select(F.explode(F.split(F.lower("text"), r"[^\w'\u00fc]+")).alias("word"))
        .filter(F.col("word") != "")
        .groupBy("word")
        .count()
        .orderBy(F.col("count").desc(), F.col("word").asc())
        .limit(5)
    )


def split_address(spark: SparkSession) -> DataFrame:
    parts = F.split(F.trim("address"), r"\s+", 2)
    return _people(spark).select(
        "id",
        F.regexp_extract("address", r"^\s*(\d+)\s", 1).alias("number"),
        F.try_element_at(parts, F.lit(2)).alias("street"),
        F.regexp_replace(F.lower("address"), r"\bst(reet|\.)?(?=\s|$)", "street").alias("norm"),
        F.instr("address", "Ave").alias("ave_at"),
        F.locate("t", "address", 4).alias("t_at"),
        F.contains(F.lower("address"), F.lit("main")).alias("is_main"),
        F.ascii(F.ltrim("address")).alias("first_code"),
    )


def mask_pii(spark: SparkSession) -> DataFrame:
    def keep_last(c: str, n: int) -> Column:
        hidden = F.repeat(F.lit("*"), F.greatest(F.length(c) - n, F.lit(0)))
        return F.concat(hidden, F.right(c, F.lit(n)))

    return _people(spark).select(
        "id",
        keep_last("phone", 4).alias("phone"),
        F.mask("name").alias("name"),
        F.base64(F.encode("email", "utf-8")).alias("b64"),
        F.hex(F.col("name")).alias("hex"),
        F.sha1("email").alias("sha1"),
        F.octet_length("name").alias("bytes"),
    )


def like_rules(spark: SparkSession) -> DataFrame:
    return _people(spark).select(
        "id",
        F.col("name").like("%Smi%").alias("like"),
        F.col("name").ilike("%smi%").alias("ilike"),
        F.col("address").like("12\\_%").alias("escaped"),
        F.col("email").endswith(".com").alias("dotcom"),
        F.col("name").isin("jon smyth", "", "JOHN SMITH").alias("listed"),
        F.expr("name like any ('j%', 'J%')").alias("any_j"),
        (~F.col("name").rlike("^[ -~]*$")).alias("non_ascii"),
    )


def blocking_keys(spark: SparkSession) -> DataFrame:
    """Group possible duplicates by a phonetic key and pick the most complete record."""
    filled = sum((F.when(F.trim(F.col(c)) != "", 1).otherwise(0) for c in ["name", "email", "phone"]), F.lit(0))
    p = _people(spark).withColumn("score", filled).withColumn("block", F.soundex(F.split(F.trim("name"), r"\s+")[0]))
    w = Window.partitionBy("block").orderBy(F.desc("score"), "id")
    return (
        p.withColumn("rank", F.rank().over(w))
        .withColumn("members", F.count("*").over(Window.partitionBy("block")))
        .where("rank = 1 and members >= 1")
        .select("block", "id", "score", "members")
    )


def slugs(spark: SparkSession) -> DataFrame:
    t = spark.createDataFrame([("Hello, World! 2024",), ("  --Çà et là--  ",), ("100% déjà-vu",), (None,)], ["title"])
    slug = F.lower("title")
    slug = F.translate(slug, "àâäçéèêëîïôöùûü", "aaaceeeeiioouuu")
    slug = F.regexp_replace(slug, "[^a-z0-9]+", "-")
    slug = F.regexp_replace(slug, "^-|-$", "")
    return t.select(
        "title", slug.alias("slug"), F.btrim("title", F.lit(" -")).alias("trimmed"), F.reverse("title").alias("rev")
    )


def format_labels(spark: SparkSession) -> DataFrame:
    p = _people(spark)
    return p.selectExpr(
        "id",
        "format_string('%05d|%-6s|', id, coalesce(left(trim(name), 5), 'n/a')) as label",
        "concat_ws(', ', nullif(trim(name), ''), nullif(trim(email), '')) as contact",
        "lpad(hex(id), 4, '0') as hex_id",
        "overlay(coalesce(phone, '') placing '##' from 2 for 3) as phone",
        "split_part(email, '@', 1) as local_part",
        "regexp_substr(address, '[0-9]+') as num",
        "char(64 + id) as letter",
    )
