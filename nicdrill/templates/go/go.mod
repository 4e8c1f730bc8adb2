module my-monitor

go 1.19
