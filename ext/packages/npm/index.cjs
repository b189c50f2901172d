"use strict";

// The name of the package that has the library of this platform.
function packageName() {
    const { platform, arch } = process;
    const system = platform === "win32" ? "windows" : platform;
    const musl = platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
    return `sqlite-tracediff-${system}-${arch}${musl ? "-musl" : ""}`;
}

function getLoadablePath() {
    const ending = { win32: "dll", darwin: "dylib" }[process.platform] ?? "so";
    const name = packageName();
    try {
        return require.resolve(`${name}/tracediff.${ending}`);
    } catch {
        throw new Error(
            `sqlite-tracediff: there is no package ${name}. Install without --omit=optional. ` +
                `Platforms: ${Object.keys(require("./package.json").optionalDependencies).join(", ")}`,
        );
    }
}

function load(db) {
    db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
