"""Analysts' SQL over temp views: CTEs, subqueries, lateral joins, sets, hierarchies."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def _company(spark: SparkSession) -> None:
    spark.createDataFrame(
        [
            (1, "Ada", None, 10, 9000.0),
            (2, "Bob", 1, 10, 5000.0),
            (3, "Cid", 1, 20, 5000.0),
            (4, "Dee", 2, 20, None),
            (5, "Eve", 2, None, 100.0),
            (6, "Éa", 5, 99, -1.0),
        ],
        "id int, name string, boss int, dept int, pay double",
    ).createOrReplaceTempView("emp")
    spark.createDataFrame([(10, "Lab"), (20, ""), (30, "Empty")], "dept int, title string").createOrReplaceTempView(
        "dept"
    )
    spark.createDataFrame(
        [(1, 1, "2024-01-01", 5), (2, 1, "2024-01-02", 7), (3, 3, "2024-01-02", None), (4, 7, None, 2)],
        "oid int, emp int, day string, qty int",
    ).createOrReplaceTempView("orders")


def above_department_average(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select e.name, e.pay from emp e
        where e.pay > (select avg(pay) from emp x where x.dept = e.dept)
    """)


def exists_and_not_exists(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select name,
               case when exists (select 1 from orders o where o.emp = e.id) then 'seller' else 'quiet' end as kind
        from emp e
        where not exists (select 1 from dept d where d.dept = e.dept and d.title = '')
           or e.pay is null
    """)


def not_in_with_nulls(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select name, dept not in (select dept from dept where dept < 30) as stray
        from emp where id not in (select boss from emp where boss is not null)
        union all
        select 'nobody', null from dept where dept not in (select dept from emp)
    """)


def scalar_subqueries(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select d.title,
               (select count(*) from emp e where e.dept = d.dept) as heads,
               (select max(pay) from emp) as top_pay,
               (select name from emp e where e.dept = d.dept order by pay desc nulls last, id limit 1) as best
        from dept d
    """)


def org_levels(spark: SparkSession) -> DataFrame:
    """Three levels of bosses by self joins."""
    _company(spark)
    e = spark.table("emp")
    b1 = e.select(F.col("id").alias("b1_id"), F.col("name").alias("b1"), F.col("boss").alias("b1_boss"))
    b2 = e.select(F.col("id").alias("b2_id"), F.col("name").alias("b2"))
    return (
        e.join(b1, e.boss == b1.b1_id, "left")
        .join(b2, F.col("b1_boss") == b2.b2_id, "left")
        .select("name", "b1", "b2", F.concat_ws(" > ", "b2", "b1", "name").alias("path"))
    )


def org_recursive(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        with recursive tree(id, name, level, path) as (
            select id, name, 0, name from emp where boss is null
            union all
            select e.id, e.name, t.level + 1, concat(t.path, '/', e.name) from emp e join tree t on e.boss = t.id
        )
        select level, count(*) as n, max(path) as sample from tree group by level
    """)


def lateral_join(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select e.name, t.day, t.qty
        from emp e, lateral (select o.day, o.qty from orders o where o.emp = e.id) t
    """)


def lateral_aggregate(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select e.name, t.n, t.total
        from emp e left join lateral (select count(*) as n, sum(qty) as total from orders o where o.emp = e.id) t
    """)


def set_operations(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        (select dept from emp intersect select dept from dept)
        union
        (select dept from emp except select dept from dept)
        union all
        select -1
    """)


def dataframe_sets(spark: SparkSession) -> DataFrame:
    _company(spark)
    e, d = spark.table("emp").select("dept"), spark.table("dept").select("dept")
    return e.subtract(d).union(e.intersect(d)).union(e.exceptAll(d)).union(d.intersectAll(e))


def cte_chain(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        with paid as (select * from emp where pay > 0),
             stats as (select dept, avg(pay) as mean, count(*) as n from paid group by dept),
             ranked as (select p.*, s.mean, s.n, row_number() over (partition by p.dept order by p.pay desc, p.id) as pos
                        from paid p left join stats s on p.dept <=> s.dept)
        select r.name, d.title, round(r.pay / r.mean, 3) as ratio, r.n
        from ranked r left outer join dept d using (dept)
        where pos = 1
        order by r.name
    """)


def every_join(spark: SparkSession) -> DataFrame:
    _company(spark)
    e, d = spark.table("emp"), spark.table("dept")
    joins = ["inner", "left", "right", "full", "left_semi", "left_anti"]
    out = None
    for how in joins:
        one = (
            e.join(d, "dept", how)
            .agg(F.count("*").alias("n"), F.sum("pay").alias("pay"))
            .select(F.lit(how).alias("how"), "n", "pay")
        )
        out = one if out is None else out.union(one)
    assert out is not None
    return out


def values_and_aliases(spark: SparkSession) -> DataFrame:
    return spark.sql("""
        select k, v * 2 as double_v, double_v + 1 as plus, struct(k, v) as s
        from values (1, 2.50), (2, null), (3, -0.01) as t(k, v)
        where k in (1, 2, 3) and (v > 0 or v is null)
    """)


def group_by_all_sql(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select coalesce(title, 'none') as title, count(*) as n, sum(pay) as pay, cast(avg(pay) as decimal(10,2)) as mean
        from emp left join dept on emp.dept = dept.dept
        group by all
        order by all
    """)


def pivot_sql(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select * from (select dept, boss, pay from emp)
        pivot (sum(pay) as pay, count(*) as n for dept in (10 as lab, 20 as other))
        order by boss nulls first
    """)


def unpivot_sql(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql(
        "select * from orders unpivot include nulls (value for what in (oid, emp, qty)) where value is null or value > 2"
    )


def named_windows(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select name, pay,
               pay - lag(pay, 1, 0D) over w as diff,
               first_value(name) over w as top_name,
               sum(pay) over (partition by dept order by pay desc nulls last, id
                               rows between 1 preceding and 1 following) as around,
               count(*) over () as n
        from emp window w as (partition by dept order by pay desc nulls last, id)
    """)


def paging(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("select name, pay from emp order by pay desc nulls last, name limit 2 offset 1")


def pipe_syntax(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        from emp
        |> where pay is not null
        |> aggregate sum(pay) as total, max(name) as who group by dept
        |> extend total / 12 as monthly
        |> order by total desc
    """)


def conditional_functions(spark: SparkSession) -> DataFrame:
    _company(spark)
    return spark.sql("""
        select id, nvl2(boss, 'has boss', 'boss') as b, ifnull(dept, 0) as dept, decode(dept, 10, 'ten', 20, 'twenty', 'else') as word,
               greatest(pay, 500.0) as g, least(id, dept, 15) as l, try_divide(pay, dept - 10) as ratio,
               zeroifnull(dept) as z, pay between 0 and 5000 as mid, nanvl(pay, 0) as nv, coalesce(boss, dept, id) as any_id,
               cast(pay as int) as whole, id % 3 as m, -id div 2 as half, id << 2 as shifted, id & 3 as bits, bin(id) as b2
        from emp
    """)
