run examples/csv-report.sns
run examples/csv-report.sns -- --csv
