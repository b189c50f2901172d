/** A Database of better-sqlite3, or a DatabaseSync of node:sqlite that was opened with allowExtension. */
export interface Connection {
    loadExtension(path: string): unknown;
}

/** The file of the extension, as loadExtension() takes it. */
export declare function getLoadablePath(): string;

/** Loads the extension into a connection. */
export declare function load(db: Connection): void;
