<?php
// tracediff in PHP's SQLite3.
// usage: php -d sqlite3.extension_dir=FOLDER php.php FOLDER/EXTENSION CONTROL TEST
//
// Traps: loadExtension takes a name in sqlite3.extension_dir, not a path, and only php.ini or -d sets that
// folder, which must be absolute. PDO loads no extensions before PHP 8.4, whose Pdo\Sqlite has loadExtension.
[, $extension, $control, $test] = $argv;
$db = new SQLite3(':memory:');
$db->enableExceptions(true);
$db->loadExtension(basename($extension));

function rows($db, $sql, ...$given)
{
    $query = $db->prepare($sql);
    foreach ($given as $i => $value) $query->bindValue($i + 1, $value);
    for ($result = $query->execute(); $row = $result->fetchArray(SQLITE3_NUM);) echo implode('|', $row), "\n";
}
rows($db, "SELECT format('%+.1f', diff_time), class, trace_short_name(name)
           FROM trace_step_diff(?, ?) LIMIT 3", $control, $test);
rows($db, 'SELECT min(ts_ns) FROM trace_events(?)', $test);
