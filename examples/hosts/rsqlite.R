# tracediff in R's RSQLite.
# usage: Rscript rsqlite.R EXTENSION CONTROL TEST
#
# Traps: integers beyond 32 bits come as integer64, which R without the package bit64 shows as 2e-191; with
# bigint = "character" they come as text. Sys.setlocale("LC_NUMERIC", ...) changes how R itself reads and writes
# numbers; tracediff reads traces as before, and format() in SQL writes a point.
library(DBI)

given <- commandArgs(trailingOnly = TRUE)
db <- dbConnect(RSQLite::SQLite(), ":memory:", loadable.extensions = TRUE, bigint = "character")
invisible(dbGetQuery(db, "SELECT load_extension(?)", params = list(given[1])))

diff <- dbGetQuery(db, "SELECT format('%+.1f', diff_time) AS us, class, trace_short_name(name) AS name
                        FROM trace_step_diff(?, ?) LIMIT 3", params = list(given[2], given[3]))
writeLines(paste(diff$us, diff$class, diff$name, sep = "|"))
writeLines(dbGetQuery(db, "SELECT min(ts_ns) AS ns FROM trace_events(?)", params = list(given[3]))$ns)
dbDisconnect(db)
