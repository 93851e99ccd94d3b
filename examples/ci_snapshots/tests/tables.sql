CREATE TABLE customers (
    customer_id BIGINT,
    name STRING,
    country STRING
) USING parquet;

CREATE TABLE orders (
    order_id BIGINT,
    customer_id BIGINT,
    ordered_at TIMESTAMP,
    status STRING,
    amount DECIMAL(10, 2)
) USING parquet;

CREATE TABLE refunds (
    order_id BIGINT,
    amount DECIMAL(10, 2)
) USING parquet;
