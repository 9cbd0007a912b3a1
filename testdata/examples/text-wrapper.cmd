run examples/text-wrapper.sns
run examples/text-wrapper.sns -- --width 30 --justify
run examples/text-wrapper.sns -- examples/data/letter.txt --width=60
