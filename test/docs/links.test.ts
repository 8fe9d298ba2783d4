// Links between pages lead to existing files and headings. Nothing is fetched.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const folders = ['docs', 'examples'];
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  ),
].map((name) => join(root, name));

describe('links', () => {
  for (const page of pages) {
    it(`of ${relative(root, page)} are not broken`, () => {
      const text = withoutCode(readFileSync(page, 'utf8'));
      const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
      const broken = targets.filter((target) => !/^[a-z]+:/.test(target) && !leads(page, target));
      assert.deepEqual(broken, []);
    });
  }
});

function leads(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || !file.endsWith('.md') || anchorsOf(file).has(anchor);
}

function anchorsOf(file: string): Set<string> {
  const text = withoutBlocks(readFileSync(file, 'utf8'));
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.matchAll(/^#+ (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-');
    let free = anchor;
    for (let number = 1; anchors.has(free); number += 1) free = `${anchor}-${number}`;
    anchors.add(free);
  }
  return anchors;
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^ *```[^]*?^ *```$/gm, '');
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '');
}
