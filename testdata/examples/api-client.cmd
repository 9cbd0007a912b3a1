run examples/api-client.sns --replay examples/data/api-client.tape http://127.0.0.1:8080
