// tracediff in Go, with mattn/go-sqlite3, which needs cgo.
// usage: go run . EXTENSION CONTROL TEST
//
// Trap: database/sql is a pool, and SELECT load_extension(...) would load into one of its connections: it is "not
// authorized". A driver with Extensions, or with a ConnectHook that loads, loads into each.
package main

import (
	"database/sql"
	"fmt"
	"github.com/mattn/go-sqlite3"
	"log"
	"os"
)

func main() {
	var lines, start string
	sql.Register("tracediff", &sqlite3.SQLiteDriver{Extensions: []string{os.Args[1]}})
	db, _ := sql.Open("tracediff", ":memory:")
	db.SetMaxIdleConns(0) // so that each query has a connection of its own
	err := db.QueryRow(`SELECT group_concat(format('%+.1f|%s|%s', diff_time, class, trace_short_name(name)), char(10))
		FROM (SELECT * FROM trace_step_diff(?, ?) LIMIT 3)`, os.Args[2], os.Args[3]).Scan(&lines)
	if err == nil {
		err = db.QueryRow("SELECT min(ts_ns) FROM trace_events(?)", os.Args[3]).Scan(&start)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lines + "\n" + start)
}
