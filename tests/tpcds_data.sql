-- Makes of TPC-DS's generated tables, at scale factor 0.01, less data that shows more: fewer rows of what is joined, so that joins
-- meet, and among them rows that the queries ask for. DuckDB runs it before the tables are written; a query is named by its number.

-- Fewer rows of what everything is joined with; keys go round among those that stay.
DELETE FROM date_dim WHERE d_year NOT BETWEEN 1998 AND 2003;
DELETE FROM time_dim WHERE t_time % 600 <> 0;
DELETE FROM customer WHERE c_customer_sk > 60;
DELETE FROM customer_address WHERE ca_address_sk > 60;
DELETE FROM customer_demographics WHERE cd_demo_sk % 137 <> 1 OR cd_demo_sk > 137 * 140;
DELETE FROM household_demographics WHERE hd_demo_sk % 49 <> 1 OR hd_demo_sk > 49 * 144;
DELETE FROM catalog_page WHERE cp_catalog_page_sk > 60;
DELETE FROM inventory WHERE inv_item_sk > 90;

CREATE MACRO among(key, many) AS key % many + 1;
CREATE MACRO ten_minutes(key) AS key // 600 * 600;
CREATE MACRO person(key) AS key % 140 * 137 + 1;
CREATE MACRO household(key) AS key % 144 * 49 + 1;

UPDATE customer SET
  c_current_cdemo_sk = person(c_current_cdemo_sk), c_current_hdemo_sk = household(c_current_hdemo_sk),
  c_current_addr_sk = among(c_current_addr_sk, 60);
UPDATE store_sales SET
  ss_sold_time_sk = ten_minutes(ss_sold_time_sk), ss_customer_sk = among(ss_customer_sk, 60), ss_cdemo_sk = person(ss_cdemo_sk),
  ss_hdemo_sk = household(ss_hdemo_sk), ss_addr_sk = among(ss_addr_sk, 60), ss_store_sk = among(ss_ticket_number, 6);
UPDATE store_returns SET
  sr_return_time_sk = ten_minutes(sr_return_time_sk), sr_customer_sk = among(sr_customer_sk, 60), sr_cdemo_sk = person(sr_cdemo_sk),
  sr_hdemo_sk = household(sr_hdemo_sk), sr_addr_sk = among(sr_addr_sk, 60), sr_store_sk = among(sr_ticket_number, 6),
  sr_reason_sk = among(sr_ticket_number, 3);
UPDATE catalog_sales SET
  cs_sold_time_sk = ten_minutes(cs_sold_time_sk), cs_catalog_page_sk = among(cs_catalog_page_sk, 60),
  cs_bill_customer_sk = among(cs_bill_customer_sk, 60), cs_bill_cdemo_sk = person(cs_bill_cdemo_sk),
  cs_bill_hdemo_sk = household(cs_bill_hdemo_sk), cs_bill_addr_sk = among(cs_bill_addr_sk, 60),
  cs_ship_customer_sk = among(cs_ship_customer_sk, 60), cs_ship_cdemo_sk = person(cs_ship_cdemo_sk),
  cs_ship_hdemo_sk = household(cs_ship_hdemo_sk), cs_ship_addr_sk = among(cs_ship_addr_sk, 60),
  cs_warehouse_sk = among(cs_item_sk, 3);
UPDATE catalog_returns SET
  cr_returned_time_sk = ten_minutes(cr_returned_time_sk), cr_catalog_page_sk = among(cr_catalog_page_sk, 60),
  cr_refunded_customer_sk = among(cr_refunded_customer_sk, 60), cr_refunded_cdemo_sk = person(cr_refunded_cdemo_sk),
  cr_refunded_hdemo_sk = household(cr_refunded_hdemo_sk), cr_refunded_addr_sk = among(cr_refunded_addr_sk, 60),
  cr_returning_customer_sk = among(cr_returning_customer_sk, 60), cr_returning_cdemo_sk = person(cr_returning_cdemo_sk),
  cr_returning_hdemo_sk = household(cr_returning_hdemo_sk), cr_returning_addr_sk = among(cr_returning_addr_sk, 60),
  cr_warehouse_sk = among(cr_item_sk, 3);
UPDATE web_sales SET
  ws_sold_time_sk = ten_minutes(ws_sold_time_sk), ws_bill_customer_sk = among(ws_bill_customer_sk, 60),
  ws_bill_cdemo_sk = person(ws_bill_cdemo_sk), ws_bill_hdemo_sk = household(ws_bill_hdemo_sk),
  ws_bill_addr_sk = among(ws_bill_addr_sk, 60), ws_ship_customer_sk = among(ws_ship_customer_sk, 60),
  ws_ship_cdemo_sk = person(ws_ship_cdemo_sk), ws_ship_hdemo_sk = household(ws_ship_hdemo_sk),
  ws_ship_addr_sk = among(ws_ship_addr_sk, 60), ws_warehouse_sk = among(ws_item_sk, 3), ws_web_site_sk = among(ws_order_number, 2);
UPDATE web_returns SET
  wr_returned_time_sk = ten_minutes(wr_returned_time_sk), wr_refunded_customer_sk = among(wr_refunded_customer_sk, 60),
  wr_refunded_cdemo_sk = person(wr_refunded_cdemo_sk), wr_refunded_hdemo_sk = household(wr_refunded_hdemo_sk),
  wr_refunded_addr_sk = among(wr_refunded_addr_sk, 60), wr_returning_customer_sk = among(wr_returning_customer_sk, 60),
  wr_returning_cdemo_sk = person(wr_returning_cdemo_sk), wr_returning_hdemo_sk = household(wr_returning_hdemo_sk),
  wr_returning_addr_sk = among(wr_returning_addr_sk, 60);
UPDATE inventory SET inv_warehouse_sk = among(inv_item_sk, 3);

-- More rows of what there is but one.
INSERT INTO store
  SELECT s.* REPLACE (2 + number AS s_store_sk, 'AAAAAAAA' || number || 'AAAAAAA' AS s_store_id,
    ['ese', 'able', 'ation', 'eing', 'bar'][number + 1] AS s_store_name, [8, 8, 2, 4, 6][number + 1] AS s_market_id,
    ['24128', '24128', '85669', '31904', '65084'][number + 1] AS s_zip)
  FROM store AS s, range(5) AS copies(number);
INSERT INTO warehouse
  SELECT w.* REPLACE (2 + number AS w_warehouse_sk, 'AAAAAAAA' || number || 'AAAAAAA' AS w_warehouse_id, 'Warehouse ' || number AS w_warehouse_name)
  FROM warehouse AS w, range(2) AS copies(number);
INSERT INTO reason VALUES (2, 'AAAAAAAACAAAAAAA', 'reason 28'), (3, 'AAAAAAAADAAAAAAA', NULL);  -- 93
INSERT INTO web_site
  SELECT w.* REPLACE (2 AS web_site_sk, 'AAAAAAAACAAAAAAA' AS web_site_id, 'site_1' AS web_name, 'pri' AS web_company_name) FROM web_site AS w;  -- 94, 95
UPDATE catalog_sales SET cs_sold_date_sk = cs_sold_date_sk + 365, cs_ship_date_sk = cs_ship_date_sk + 365
  WHERE cs_order_number % 4 = 0;  -- of 2002 there are none otherwise: 4

-- What queries ask for in the tables that are joined.
CREATE MACRO one_of(choices, key) AS choices[key % len(choices) + 1];

UPDATE customer_address SET
  ca_zip = one_of(['24128', '24128', '85669', '31904'], ca_address_sk),  -- 8, 15, 24, 45
  ca_city = one_of(['Edgewood', 'Midway', 'Fairview', NULL], ca_address_sk),  -- 84
  ca_state = one_of(['TN', 'GA', 'IL', 'OH', 'KY', 'TX', 'IN', 'NM', 'VA', 'CA'], ca_address_sk),
  ca_county = one_of(['Williamson County', 'Rush County', 'Toole County', 'Jefferson County', NULL, 'Walker County', 'Daviess County',
    'Barrow County', 'Luce County', 'Richland County'], ca_address_sk),  -- 10, 31, 54
  ca_gmt_offset = one_of([-5, -7], ca_address_sk // 2);  -- 91
UPDATE customer SET
  c_current_cdemo_sk = (SELECT min(cd_demo_sk) FROM customer_demographics WHERE cd_marital_status = 'M' AND cd_education_status = 'Unknown'),
  c_current_hdemo_sk = (SELECT min(hd_demo_sk) FROM household_demographics WHERE hd_buy_potential = 'Unknown')
  WHERE c_customer_sk % 3 = 0;  -- 91
UPDATE household_demographics SET hd_dep_count = one_of([1, 3, 6, 7], hd_demo_sk) WHERE hd_demo_sk % 3 > 0;  -- 13, 90, 96
UPDATE customer_demographics SET cd_marital_status = 'M', cd_education_status = 'Advanced Degree' WHERE cd_demo_sk % 3 = 0;  -- 13, 85
UPDATE web_page SET wp_char_count = 5100;  -- 90

UPDATE item SET i_manager_id = one_of([1, 8, 28], i_item_sk // 6) WHERE i_item_sk % 2 = 0;  -- 19, 42, 55, 71
UPDATE item SET i_manufact_id = one_of([977, 128, 350], i_item_sk // 5) WHERE i_item_sk % 5 = 1;  -- 3, 32, 92
UPDATE item SET i_manufact_id = one_of([677, 129], i_item_sk // 10), i_current_price = 70 WHERE i_item_sk % 10 = 2;  -- 37, 82
UPDATE item SET i_manufact_id = 740, i_manufact = 'ought', i_category = 'Women', i_color = 'powder', i_units = 'Ounce', i_size = 'medium'
  WHERE i_item_sk % 30 = 3;  -- 41
UPDATE item SET i_color = 'peach' WHERE i_item_sk % 10 = 4;  -- 24
UPDATE item SET i_color = 'purple', i_current_price = 66 WHERE i_item_sk % 10 = 5;  -- 64
UPDATE item SET i_category = 'Women', i_class = 'maternity' WHERE i_item_sk % 10 = 6;  -- 54
UPDATE item SET i_current_price = 1.25 WHERE i_item_sk % 10 = 7;  -- 21, 40

-- What they ask for in sales, returns and stocks.
CREATE MACRO day(text) AS (SELECT d_date_sk FROM date_dim WHERE d_date = CAST(text AS DATE));

UPDATE inventory SET inv_quantity_on_hand = CASE WHEN inv_date_sk // 7 % 4 = 0 THEN 900 ELSE 0 END WHERE inv_item_sk % 3 = 1;  -- 39
UPDATE store_sales SET ss_sold_date_sk = day('2000-02-14') WHERE ss_item_sk % 20 = 8 AND ss_ticket_number % 4 = 0;  -- 23
UPDATE catalog_sales SET cs_sold_date_sk = day('2000-02-14') WHERE cs_item_sk % 20 = 8 AND cs_order_number % 4 = 0;  -- 23, 38
UPDATE web_sales SET ws_sold_date_sk = day('2000-02-14') WHERE ws_item_sk % 20 = 8 AND ws_order_number % 4 = 0;  -- 23, 38
UPDATE store_sales SET ss_hdemo_sk = household(ss_item_sk) WHERE ss_ticket_number % 3 = 0;  -- 73: tickets of few rows
UPDATE store_sales SET ss_sales_price = 125, ss_net_profit = 150 WHERE ss_item_sk % 10 = 3;  -- 13
UPDATE web_sales SET ws_sales_price = 125, ws_net_profit = 150 WHERE ws_item_sk % 10 IN (3, 9);  -- 85
UPDATE web_returns SET
  wr_refunded_addr_sk = one_of([3, 4, 6], wr_order_number), wr_returning_cdemo_sk = wr_refunded_cdemo_sk WHERE wr_item_sk % 10 IN (3, 9);  -- 85
UPDATE web_sales SET ws_ext_sales_price = ws_ext_sales_price * 3
  WHERE ws_sold_date_sk BETWEEN day('2000-07-01') AND day('2000-09-30');  -- 31: sales on the web grow
UPDATE catalog_sales SET cs_ext_discount_amt = 5000 WHERE cs_order_number % 10 = 0;  -- 32

-- Large returns: 49.
UPDATE store_returns SET sr_return_amt = sr_return_amt + 10000 WHERE sr_ticket_number % 2 = 0;
UPDATE catalog_returns SET cr_return_amount = cr_return_amount + 10000 WHERE cr_order_number % 2 = 0;
UPDATE web_returns SET wr_return_amt = wr_return_amt + 10000 WHERE wr_order_number % 2 = 0;

-- The same items come back in one week everywhere: 83.
UPDATE store_returns SET sr_returned_date_sk = day('2000-06-30') WHERE sr_item_sk % 10 = 1 AND sr_ticket_number % 2 = 0;
UPDATE catalog_returns SET cr_returned_date_sk = day('2000-06-30') WHERE cr_item_sk % 10 = 1 AND cr_order_number % 2 = 0;
UPDATE web_returns SET wr_returned_date_sk = day('2000-06-30') WHERE wr_item_sk % 10 = 1 AND wr_order_number % 2 = 0;

-- Customers who buy and return an item buy it again: 25.
UPDATE store_sales SET ss_customer_sk = among(ss_item_sk, 60) WHERE ss_ticket_number % 4 = 0;
UPDATE store_returns SET sr_customer_sk = among(sr_item_sk, 60) WHERE sr_ticket_number % 4 = 0;
UPDATE catalog_sales SET cs_bill_customer_sk = among(cs_item_sk, 60) WHERE cs_order_number % 3 = 0;

-- Customers buy an item for as much on one day everywhere: 38, 58.
UPDATE store_sales SET ss_sold_date_sk = day('2000-01-03'), ss_ext_sales_price = 90000, ss_customer_sk = among(ss_item_sk, 60)
  WHERE (ss_item_sk, ss_ticket_number) IN (SELECT ss_item_sk, max(ss_ticket_number) FROM store_sales GROUP BY ALL);
UPDATE catalog_sales SET cs_sold_date_sk = day('2000-01-03'), cs_ext_sales_price = 90000, cs_bill_customer_sk = among(cs_item_sk, 60)
  WHERE (cs_item_sk, cs_order_number) IN (SELECT cs_item_sk, max(cs_order_number) FROM catalog_sales GROUP BY ALL);
UPDATE web_sales SET ws_sold_date_sk = day('2000-01-03'), ws_ext_sales_price = 90000, ws_bill_customer_sk = among(ws_item_sk, 60)
  WHERE (ws_item_sk, ws_order_number) IN (SELECT ws_item_sk, max(ws_order_number) FROM web_sales GROUP BY ALL);
