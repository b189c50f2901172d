// tracediff in JDBC, with org.xerial's sqlite-jdbc (pom.xml).
// usage: java -cp 'FOLDER-OF-JARS/*' Jdbc.java EXTENSION CONTROL TEST
//
// Traps: without the property enable_load_extension, load_extension is "not authorized". getInt cuts ts_ns to 32
// bits and says nothing: use getLong. Each connection of a pool loads the extension: as its initial query.
import java.sql.*;
import java.util.Properties;

public class Jdbc {
    static void print(Connection db, String sql, String... given) throws SQLException {
        try (PreparedStatement query = db.prepareStatement(sql)) {
            for (int i = 0; i < given.length; i++) query.setString(i + 1, given[i]);
            for (ResultSet row = query.executeQuery(); row.next();) System.out.println(row.getString(1));
        }
    }

    public static void main(String[] given) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("enable_load_extension", "true");
        try (Connection db = DriverManager.getConnection("jdbc:sqlite::memory:", properties)) {
            print(db, "SELECT 'tracediff' WHERE load_extension(?) IS NOT NULL", given[0]);
            print(db, "SELECT format('%+.1f|%s|%s', diff_time, class, trace_short_name(name))"
                + " FROM trace_step_diff(?, ?) LIMIT 3", given[1], given[2]);
            print(db, "SELECT min(ts_ns) FROM trace_events(?)", given[2]);
        }
    }
}
