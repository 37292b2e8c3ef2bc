/// The migrations of each store, in order, as they were compiled into this program.
///
/// A file is named `NNNN_name.store.sql` and listed here once. A released file is never edited; a change is a new file.
/// The file's ending names its store, because embedded files are distinguished by their base names alone. The embedded
/// name has `_` in place of each character that a Swift identifier cannot have, such as a leading digit.
package enum Schema {
    /// The migrations of ``SQLiteStore``.
    package static let sqlite = [
        Migration(number: 1, name: "event_log", file: PackageResources._001_event_log_sqlite_sql),
        Migration(number: 2, name: "erasure", file: PackageResources._002_erasure_sqlite_sql),
        Migration(number: 3, name: "provable_log", file: PackageResources._003_provable_log_sqlite_sql),
        Migration(number: 4, name: "directory_changes", file: PackageResources._004_directory_changes_sqlite_sql),
        Migration(number: 5, name: "room_codes", file: PackageResources._005_room_codes_sqlite_sql),
        Migration(number: 6, name: "cleared_locations", file: PackageResources._006_cleared_locations_sqlite_sql),
        Migration(number: 7, name: "waveforms", file: PackageResources._007_waveforms_sqlite_sql),
        Migration(number: 8, name: "heads", file: PackageResources._008_heads_sqlite_sql),
        Migration(number: 9, name: "statistics", file: PackageResources._009_statistics_sqlite_sql),
        Migration(
            number: 10, name: "statistics_founders", file: PackageResources._010_statistics_founders_sqlite_sql),
        Migration(number: 11, name: "tails", file: PackageResources._011_tails_sqlite_sql),
    ]

    /// The migrations of ``PostgresStore``.
    package static let postgres = [
        Migration(number: 1, name: "event_log", file: PackageResources._001_event_log_postgres_sql),
        Migration(number: 2, name: "erasure", file: PackageResources._002_erasure_postgres_sql),
        Migration(number: 3, name: "provable_log", file: PackageResources._003_provable_log_postgres_sql),
        Migration(number: 4, name: "directory_changes", file: PackageResources._004_directory_changes_postgres_sql),
        Migration(number: 5, name: "room_codes", file: PackageResources._005_room_codes_postgres_sql),
        Migration(number: 6, name: "cleared_locations", file: PackageResources._006_cleared_locations_postgres_sql),
        Migration(number: 7, name: "waveforms", file: PackageResources._007_waveforms_postgres_sql),
        Migration(number: 8, name: "heads", file: PackageResources._008_heads_postgres_sql),
        Migration(number: 9, name: "statistics", file: PackageResources._009_statistics_postgres_sql),
        Migration(
            number: 10, name: "statistics_founders", file: PackageResources._010_statistics_founders_postgres_sql),
        Migration(number: 11, name: "tails", file: PackageResources._011_tails_postgres_sql),
    ]
}
