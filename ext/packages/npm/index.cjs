"use strict";
const { join } = require("node:path");

function getLoadablePath() {
    return join(__dirname, "tracediff.so");
}

function load(db) {
    db.loadExtension(getLoadablePath());
}

module.exports = { getLoadablePath, load };
