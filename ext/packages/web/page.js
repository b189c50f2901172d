"use strict";
const $ = id => document.getElementById(id);
const SHOWN = 1000; // rows in the table
const EMPTY = "Or drop files or a folder here.";
const folders = {control: [], test: [], control_memory: [], test_memory: []}; // of {name, data}
let worker, waiting = new Map(), last = 0, ready, reads, busy = true, answered = null;

function bytes_of(base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i);
    return bytes;
}

const data = JSON.parse($("data").textContent);

async function unpacked(base64) {
    const stream = new Blob([bytes_of(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

function start() {
    worker = new Worker(URL.createObjectURL(new Blob([$("worker").textContent], {type: "text/javascript"})));
    worker.onmessage = ({data: answer}) => {
        if (answer.id === undefined) {
            if (answer.read < answer.size)
                $("progress").value = answer.read / answer.size;
            else
                $("progress").removeAttribute("value");
            return;
        }
        const [resolve, reject] = waiting.get(answer.id);
        waiting.delete(answer.id);
        if (answer.error === undefined)
            return resolve(answer);
        reject(new Error(answer.error));
        if (answer.ended)
            restart();
    };
    worker.onerror = event => fail(new Error(event.message));
    ready = unpacked(data.binary).then(binary => ask({load: true, binary})).then(answer => {
        ({reads} = answer);
        return send();
    });
    return ready;
}

/* Gives the worker the files, or their bytes if it cannot read files. */
async function send() {
    if (reads)
        return ask({folders});
    const copies = {}, all = [];
    for (const [name, files] of Object.entries(folders)) {
        copies[name] = [];
        for (const file of files) {
            const bytes = await file.data.arrayBuffer();
            all.push(bytes);
            copies[name].push({name: file.name, data: bytes});
        }
    }
    return ask({folders: copies}, all);
}

function restart() {
    worker.terminate();
    for (const [, reject] of waiting.values())
        reject("cancelled");
    waiting.clear();
    start().catch(fail);
}

function ask(request, moved = []) {
    return new Promise((resolve, reject) => {
        const id = ++last;
        waiting.set(id, [resolve, reject]);
        worker.postMessage({id, ...request}, moved);
    });
}

function fail(error) {
    if (error === "cancelled")
        return;
    $("error").textContent = error.message;
    $("error").hidden = false;
}

/* Does work of the worker: shows that it goes on, and lets it be cancelled. */
async function work(what, job) {
    $("error").hidden = true;
    $("status").textContent = what;
    $("progress").removeAttribute("value");
    $("progress").hidden = $("cancel").hidden = false;
    busy = true;
    enable();
    const begin = performance.now(), focused = document.activeElement;
    let done = "";
    try {
        await ready;
        done = await job();
        const took = performance.now() - begin;
        $("status").textContent = `${done} ${took < 1000 ? `${took.toFixed(0)} ms` : `${(took / 1000).toFixed(1)} s`}`;
    } catch (error) {
        $("status").textContent = error === "cancelled" ? "Cancelled." : "";
        fail(error);
    }
    $("progress").hidden = $("cancel").hidden = true;
    busy = false;
    enable();
    if (document.activeElement === document.body)
        focused.focus({preventScroll: true}); // which it lost while it was disabled
}

/* Whether these are dumps of PyTorch's flight recorder: files with a rank and without a suffix. */
function are_dumps(files) {
    return files.length > 0 && files.every(file => /_\d+$/.test(file.name));
}

function enable() {
    const missing = folders.control.length ? folders.test.length ? "" : "Test" : "Control";
    const hangs = are_dumps(folders.control) || are_dumps(folders.test);
    $("compare").disabled = busy || missing || hangs;
    $("hint").textContent = busy ? "" : hangs ? "These are dumps of a hanging job: press Run below."
        : missing ? `Choose the trace of ${missing}.` : "";
    $("keep").disabled = busy;
    $("run").disabled = busy;
    $("example").disabled = $("swap").disabled = busy;
    $("csv").disabled = $("save").disabled = busy || !answered;
}

$("cancel").onclick = restart;

function sized(bytes) {
    return bytes < 1e3 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} KB`
        : `${(bytes / 1e6).toFixed(1)} MB`;
}

function listed(files, what) {
    const names = files.slice(0, 3).map(file => file.name).join(", "), more = files.length - 3;
    const size = files.reduce((sum, file) => sum + file.data.size, 0);
    return files.length === 0 ? ""
        : `${what}${names}${more > 0 ? ` and ${more} more` : ""}: ${sized(size)}`;
}

function show_side(side) {
    const place = document.querySelector(`[data-side=${side}]`);
    place.querySelector(".chosen").textContent = listed(folders[side], "") || EMPTY;
    place.querySelector(".snapshots").textContent = listed(folders[`${side}_memory`], "Memory: ");
}

/* Takes other files: what was answered of those before is not of these. */
async function mount() {
    answered = null;
    $("rows").replaceChildren();
    $("report").hidden = $("keep").hidden = $("error").hidden = true;
    if ($("cancel").hidden)
        $("status").textContent = "";
    show_side("control");
    show_side("test");
    enable(); // at once, so that nobody copies rows of other files
    ready = ready.catch(() => {}).then(send); // whatever is asked from now on waits for it
    await ready;
    enable();
}

/* Files in a folder of which no two have one name; names of one folder become names without it. */
function folder_of(files) {
    const top = files.length ? files[0].name.split("/")[0] + "/" : "", seen = new Set();
    const inside = files.every(file => file.name.startsWith(top));
    return files.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0).map(({name, data}) => {
        let own = inside ? name.slice(top.length) : name;
        while (seen.has(own))
            own = `again_${own}`;
        seen.add(own);
        return {name: own, data};
    });
}

/* Gives a side its files. Traces replace all that it had, snapshots of memory alone the snapshots. */
async function choose(side, files) {
    const of_memory = file => /\.(pickle|pickle\.gz|pkl)$/.test(file.name);
    const traces = files.filter(file => !of_memory(file));
    if (files.length === 0)
        throw new Error("There are no files in it.");
    if (traces.length)
        folders[side] = folder_of(traces);
    folders[`${side}_memory`] = folder_of(files.filter(of_memory));
    if (are_dumps(folders[side]))
        $("sql").value = `SELECT text FROM hang_summary('${side}')`;
    await mount();
}

async function files_of_entry(entry, path) {
    if (entry.isFile)
        return new Promise((resolve, reject) =>
            entry.file(data => resolve([{name: path + data.name, data}]), reject));
    const reader = entry.createReader(), found = [];
    for (;;) {
        const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (entries.length === 0)
            return found;
        for (const each of entries)
            found.push(...await files_of_entry(each, `${path}${entry.name}/`));
    }
}

async function files_of_handle(handle, path) {
    if (handle.kind === "file")
        return [{name: path + handle.name, data: await handle.getFile()}];
    const found = [];
    for await (const each of handle.values())
        found.push(...await files_of_handle(each, `${path}${handle.name}/`));
    return found;
}

/* What is dropped. Chromium does not read entries for a page that is itself a file, so files are taken as such, and
** folders by handles where there are any. Items are gone after the event, so all is asked for before the first wait. */
async function files_of_item(item) {
    const file = item.getAsFile(), entry = item.webkitGetAsEntry();
    if (!entry || !entry.isDirectory)
        return file ? [{name: file.name, data: file}] : [];
    const handle = item.getAsFileSystemHandle && item.getAsFileSystemHandle();
    try {
        return await (handle ? files_of_handle(await handle, "") : files_of_entry(entry, ""));
    } catch (error) {
        throw new Error(`${entry.name}: this browser gives no folder that is dropped here (${error.message}). `
            + "Drop its files, or press Choose a folder.");
    }
}

for (const place of document.querySelectorAll(".side")) {
    const side = place.dataset.side;
    const take = async files => {
        try {
            if (!$("cancel").hidden)
                restart(); // what is being answered is of the files before
            await choose(side, await files);
        } catch (error) {
            fail(error);
        }
    };
    for (const input of place.querySelectorAll("input"))
        input.onchange = () => {
            take([...input.files].map(data => ({name: data.webkitRelativePath || data.name, data})));
            input.value = ""; // so that the same may be chosen again
        };
    place.ondragover = event => {
        event.preventDefault();
        place.classList.add("over");
    };
    place.ondragleave = event => place.classList.toggle("over", place.contains(event.relatedTarget));
    place.ondrop = event => {
        event.preventDefault();
        place.classList.remove("over");
        take(Promise.all([...event.dataTransfer.items].map(files_of_item)).then(found => found.flat()));
    };
}

/* What is dropped beside a side is not opened in place of the page. */
document.ondragover = event => event.preventDefault();
document.ondrop = event => {
    if (!event.defaultPrevented)
        fail(new Error("Drop the trace on one of the sides: Control or Test."));
    event.preventDefault();
};

$("swap").onclick = () => {
    [folders.control, folders.test] = [folders.test, folders.control];
    [folders.control_memory, folders.test_memory] = [folders.test_memory, folders.control_memory];
    mount().catch(fail);
};

async function compare() {
    const memory = ["control_memory", "test_memory"].filter(name => folders[name].length);
    const where = memory.map(name => `${name} = '${name}'`).join(" AND ") || "true";
    const {rows} = await ask({sql: `SELECT html FROM trace_diff_report('control', 'test') WHERE ${where}`, most: 1});
    $("report").srcdoc = rows[0][0];
    $("report").hidden = $("keep").hidden = false;
    return "Compared in";
}

/* Scrolls to the report, so that it is read without another action. */
function show_report() {
    if ($("status").textContent.startsWith("Compared"))
        scrollBy(0, $("report").getBoundingClientRect().top - $("bar").offsetHeight);
}

$("compare").onclick = () => work("Comparing...", compare).then(show_report);
$("keep").onclick = () => download($("report").srcdoc, "text/html", "report.html");

$("example").onclick = () => work("Comparing...", async () => {
    for (const side of ["control", "test"])
        await choose(side, data.examples[side].map(({name, base64}) => ({name, data: new Blob([bytes_of(base64)])})));
    return compare();
}).then(show_report);

const INTEGER = 1, FLOAT = 2;

function cell(value, type) {
    const element = document.createElement("td");
    if (value === null)
        element.className = "null";
    else if (type === INTEGER || type === FLOAT)
        element.className = "number";
    element.textContent = value === null ? "NULL" : typeof value === "string" ? value : `${value.length} bytes`;
    return element;
}

function show_rows({columns, rows, types, more}) {
    const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    for (const name of columns)
        head.appendChild(document.createElement("th")).textContent = name;
    rows.forEach((row, i) => body.insertRow().append(...row.map((value, j) => cell(value, types[i][j]))));
    $("rows").replaceChildren(table);
    return `${more ? "The first " : ""}${rows.length} row${rows.length === 1 ? "" : "s"} in`;
}

function run() {
    return work("Running...", async () => {
        answered = null;
        $("rows").replaceChildren();
        answered = await ask({sql: $("sql").value, most: SHOWN});
        return show_rows(answered);
    });
}

$("run").onclick = run;
$("sql").onkeydown = event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !$("run").disabled)
        run();
};

function csv_of(value) {
    if (value === null)
        return "";
    const text = typeof value === "string" ? value
        : [...value].map(byte => byte.toString(16).padStart(2, "0")).join("");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

$("csv").onclick = () => work("Copying...", async () => {
    const {columns, rows} = answered.more ? await ask({sql: answered.sql, most: Infinity}) : answered;
    const lines = [columns, ...rows].map(row => row.map(csv_of).join(",") + "\r\n");
    await navigator.clipboard.writeText(lines.join(""));
    return `Copied ${rows.length} row${rows.length === 1 ? "" : "s"} in`;
});

function download(content, type, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], {type}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

$("save").onclick = () => work("Saving...", async () => {
    download((await ask({save: answered.sql})).bytes, "application/vnd.sqlite3", "result.db");
    return "Saved in";
});

async function show_functions() {
    const {rows} = await ask({sql: "SELECT family, question, name, text FROM tracediff_help", most: 1e3});
    const filter = () => {
        const words = $("find").value.toLowerCase();
        $("functions").replaceChildren(...rows.filter(row => row.slice(0, 3).join(" ").toLowerCase().includes(words))
            .map(([, question, name, text]) => {
                const item = document.createElement("li"), button = document.createElement("button");
                button.type = "button";
                button.textContent = name;
                button.title = question;
                button.onclick = () => {
                    $("text").hidden = !$("text").hidden && $("text").textContent === text; // again: closes it
                    $("text").textContent = text;
                };
                item.append(button, ` ${question}`);
                return item;
            }));
    };
    $("find").oninput = filter;
    filter();
    const version = await ask({sql: "SELECT tracediff_version() || ', SQLite ' || sqlite_version()", most: 1});
    $("version").textContent = `tracediff ${version.rows[0][0]}.`;
}

start().then(show_functions).then(() => {
    busy = false;
    enable();
}).catch(fail);
