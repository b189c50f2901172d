"use strict";
/*
** The worker of the page: SQLite and the extension. It is sent one request at a time, and answers each with its id. To
** cancel, the page ends the worker and starts another one.
**
** {load, binary}                 {reads}: WebAssembly; whether files can be read here
** {folders: {control: files}}    {}: files are {name, data}, with a File, a Blob or, if they cannot be read here, an
**                                ArrayBuffer each; names may have slashes
** {sql, most}                    {columns, rows, types, more, sql}: at most `most` rows of the last statement, which
**                                is `sql`; values are NULL, text or Uint8Array, types those of SQLite
** {save}                         {bytes}: a database with the table `result`, what a statement gives
**
** {error} instead, as SQLite words it; `ended` with it if the worker cannot go on. {read, size} while files are read.
*/
const OK = 0, AUTH = 23, ROW = 100, DONE = 101, BLOB = 4, NULL = 5, EIO = 29;
const BLOCK = 1 << 18, BLOCKS = 32, AHEAD = 16; // bytes; blocks that are kept, and that are read at once in sequence
const blocks = new Map(); // the last blocks of files that were read
let module, db, size = 0, read = 0, told = 0, changed = false;

function pointer_of(text) {
    const length = module.lengthBytesUTF8(text), at = module._malloc(length + 1);
    if (!at)
        throw new Error("out of memory");
    module.stringToUTF8(text, at, length + 1);
    return at;
}

function message() {
    return module.UTF8ToString(module._sqlite3_errmsg(db));
}

const decoder = new TextDecoder("utf-8", {ignoreBOM: true});

function bytes_of(statement, i, at) {
    return module.HEAPU8.slice(at, at + module._sqlite3_column_bytes(statement, i));
}

function value_of(statement, i, type) {
    if (type === NULL)
        return null;
    return type === BLOB ? bytes_of(statement, i, module._sqlite3_column_blob(statement, i))
        : decoder.decode(bytes_of(statement, i, module._sqlite3_column_text(statement, i)));
}

/* Calls back with each statement of a text that has one; prepares it as `prepare` does. */
function each_statement(sql, prepare, callback) {
    const text = pointer_of(sql), places = module._malloc(8);
    try {
        for (let at = text; module.HEAPU8[at];) {
            const code = prepare(at, places, places + 4);
            if (code === AUTH)
                throw new Error("only queries can be run here: SELECT, VALUES, WITH and EXPLAIN");
            if (code !== OK)
                throw new Error(message());
            const statement = module.HEAPU32[places >> 2];
            at = module.HEAPU32[(places >> 2) + 1];
            if (!statement)
                continue;
            try {
                callback(statement);
            } finally {
                module._sqlite3_finalize(statement);
            }
        }
    } finally {
        module._free(text);
        module._free(places);
    }
}

function query(sql, most) {
    let answer = {columns: [], rows: [], types: [], more: false, sql: ""};
    each_statement(sql, (...where) => module._web_prepare(db, ...where), statement => {
        const count = module._sqlite3_column_count(statement);
        answer = {columns: [], rows: [], types: [], more: false,
            sql: module.UTF8ToString(module._sqlite3_sql(statement))};
        for (let i = 0; i < count; i++)
            answer.columns.push(module.UTF8ToString(module._sqlite3_column_name(statement, i)));
        for (;;) {
            const code = module._sqlite3_step(statement);
            if (code === DONE)
                break;
            if (code !== ROW)
                throw new Error(message());
            if (answer.rows.length === most) {
                answer.more = true;
                break;
            }
            const row = [], types = [];
            for (let i = 0; i < count; i++) {
                types.push(module._sqlite3_column_type(statement, i));
                row.push(value_of(statement, i, types[i]));
            }
            answer.rows.push(row);
            answer.types.push(types);
        }
    });
    return answer;
}

function run(sql) {
    each_statement(sql, (at, ...places) => module._sqlite3_prepare_v2(db, at, -1, ...places), statement => {
        if (module._sqlite3_step(statement) !== DONE)
            throw new Error(message());
    });
}

function save(sql) {
    run("ATTACH ':memory:' AS saved");
    const schema = pointer_of("saved"), length = module._malloc(8);
    try {
        run(`CREATE TABLE saved.result AS ${sql}`);
        const at = module._sqlite3_serialize(db, schema, length, 0);
        if (!at)
            throw new Error("out of memory");
        const copy = module.HEAPU8.slice(at, at + module.HEAPU32[length >> 2]);
        module._sqlite3_free(at);
        return copy;
    } finally {
        run("DETACH saved");
        module._free(schema);
        module._free(length);
    }
}

/* Files are read where they are, in pieces; what was read so far is told. */
function mount(folders) {
    const {FS, WORKERFS} = module;
    size = 0;
    blocks.clear();
    for (const [name, files] of Object.entries(folders)) {
        if (FS.analyzePath("/" + name).exists) {
            FS.unmount("/" + name);
            FS.rmdir("/" + name);
        }
        if (files.length === 0)
            continue;
        for (const {data} of files) {
            data.size ??= data.byteLength; // which WORKERFS asks
            size += data.size;
        }
        FS.mkdir("/" + name);
        FS.mount(WORKERFS, {blobs: files}, "/" + name);
    }
}

/* Bytes of a file, at once. WebKit's workers cannot read the files of a page that is itself one. */
function bytes_at(data, from, to) {
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data, from, to - from)
        : new Uint8Array(new FileReaderSync().readAsArrayBuffer(data.slice(from, to)));
    if (bytes.length < to - from)
        throw new Error("the file has become shorter");
    return bytes;
}

/*
** A block of a file. Each read takes a millisecond or two, however small it is, and SQLite reads pages of some KB: so
** blocks are kept, and where one follows the last that was read, the next ones are read with it.
*/
function block_of(file, number) {
    const key = i => `${file.id} ${i}`, kept = blocks.get(key(number));
    if (kept) {
        blocks.delete(key(number));
        blocks.set(key(number), kept); // the last is the latest
        return kept;
    }
    const count = Math.min(file.next === number ? AHEAD : 1, Math.ceil(file.size / BLOCK) - number);
    const begin = number * BLOCK, bytes = bytes_at(file.contents, begin, Math.min(begin + count * BLOCK, file.size));
    file.next = number + count;
    for (let i = count - 1; i >= 0; i--)
        blocks.set(key(number + i), bytes.subarray(i * BLOCK, (i + 1) * BLOCK));
    for (const last of [...blocks.keys()].slice(0, -BLOCKS))
        blocks.delete(last);
    return blocks.get(key(number));
}

function copy_bytes(file, from, to, place) {
    if (file.contents instanceof ArrayBuffer)
        return place.set(bytes_at(file.contents, from, to));
    for (let at = from; at < to;) {
        const number = Math.floor(at / BLOCK), begin = number * BLOCK;
        const part = block_of(file, number).subarray(at - begin, to - begin);
        place.set(part, at - from);
        at += part.length;
    }
}

function can_read() {
    try {
        return bytes_at(new Blob(["x"]), 0, 1).length === 1;
    } catch {
        return false;
    }
}

function watch_reading() {
    module.WORKERFS.stream_ops.read = (stream, buffer, offset, length, position) => {
        const got = Math.max(0, Math.min(length, stream.node.size - position));
        try {
            copy_bytes(stream.node, position, position + got, buffer.subarray(offset, offset + got));
        } catch {
            changed = true;
            throw new module.FS.ErrnoError(EIO);
        }
        read += got;
        if (read - told > size / 200) {
            told = read;
            postMessage({read, size});
        }
        return got;
    };
}

async function answer(request) {
    if (request.load) {
        module = await tracediff({wasmBinary: request.binary, printErr: () => {}});
        watch_reading();
        db = module._web_open();
        if (!db)
            throw new Error("the extension does not load");
        run("PRAGMA trusted_schema = OFF");
        return {reads: can_read()};
    }
    read = told = 0;
    changed = false;
    if (request.folders)
        return mount(request.folders), {};
    if (request.save)
        return {bytes: save(request.save)};
    return query(request.sql, request.most);
}

onmessage = async event => {
    const {id} = event.data;
    try {
        postMessage({id, ...await answer(event.data)});
    } catch (error) {
        const hint = changed ? "\nA file has changed since it was chosen: choose it again." : "";
        const ended = error instanceof WebAssembly.RuntimeError;
        postMessage({id, error: String(error.message || error) + hint, ended});
    }
};
