run examples/config-merge.sns
run examples/config-merge.sns examples/data/config/production.json server.port=8443 log=debug
run examples/config-merge.sns -- examples/data/config/broken.json log=loud server.tls=on
