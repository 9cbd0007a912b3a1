run examples/list-issues.sns --replay examples/data/list-issues.tape
