run examples/text-wrapper.sns
run examples/text-wrapper.sns -- --width 30 --justify
