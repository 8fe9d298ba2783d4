#!/usr/bin/env node
// The `ringback` executable: runs the source in a checkout, the bundle in an installed package.
// Plain JavaScript that old versions of Node can parse, so that they print a sentence and not a
// syntax error.
import { existsSync, readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const needed = manifest.engines.node.replace('>=', '');

/** Compares only the two numbers that `engines` names. */
function isOlder(running, than) {
  const [major, minor] = running.split('.').map(Number);
  const [majorNeeded, minorNeeded] = than.split('.').map(Number);
  return major < majorNeeded || (major === majorNeeded && minor < minorNeeded);
}

function refuse(why) {
  process.stderr.write(`Cannot start Ringback ${manifest.version}: ${why}\n`);
  process.exitCode = 1;
}

// The package never contains the source; in a checkout the bundle may be outdated.
const entry = ['../src/main.ts', '../dist/main.js']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));

if (isOlder(process.versions.node, needed)) {
  refuse(`it needs Node ${needed} or newer, and this is Node ${process.versions.node}`);
} else if (entry === undefined) {
  refuse('this package was packed without being built; pack it with scripts allowed');
} else {
  await import(entry.href);
}
