run examples/word-index.sns
run examples/word-index.sns examples/data/lighthouse.txt ship light
run examples/word-index.sns examples/data/lighthouse.txt stormy
run examples/word-index.sns examples/data/lighthouse.txt ship The
