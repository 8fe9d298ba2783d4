// Reads the fenced blocks of a Markdown page: language, marks and line. Marks follow the language, where GitHub does
// not show them: ```sh terminal="service"
import { extname } from 'node:path';

export interface Block {
  /** As in ```sh. Empty if the fence names none. */
  language: string;
  text: string;
  /** The line of the fence in the page; the text starts on the next one. */
  line: number;
  /** `terminal="service"` has a value, `output` alone is empty. */
  marks: ReadonlyMap<string, string>;
}

export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  const lines = page.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = '', fence, info = ''] = /^( *)(`{3,})([^`]*)$/.exec(lines[at] ?? '') ?? [];
    if (fence === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence);
    if (end === -1) throw new Error(`The block in line ${at + 1} has no end`);
    const inside = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    const [, language = '', marks = ''] = /^\s*(\S*)(.*)$/.exec(info) ?? [];
    const text = inside.map((line) => `${line}\n`).join('');
    blocks.push({ language, text, line: at + 1, marks: readMarks(marks) });
    at = end;
  }
  return blocks;
}

function readMarks(text: string): Map<string, string> {
  const found = text.matchAll(/([\w-]+)(?:="([^"]*)")?/g);
  return new Map([...found].map(([, name = '', value = '']) => [name, value]));
}

/** File extensions by language, so that a first line is not mistaken for a file name. */
const endings: Readonly<Record<string, readonly string[]>> = {
  js: ['.js', '.mjs'],
  ts: ['.ts', '.mts'],
  py: ['.py'],
  python: ['.py'],
  go: ['.go'],
  yaml: ['.yaml', '.yml'],
  json: ['.json'],
  sql: ['.sql'],
  sh: ['.sh'],
};

/** The file that a block is saved as: `title="shop.js"`, or a first line such as `// shop.js`. */
export function fileOf({ language, text, marks }: Block): string | undefined {
  const title = marks.get('title');
  if (title !== undefined) return title;
  const [, name] = /^(?:\/\/|#|--) ([\w./-]+)\n/.exec(text) ?? [];
  if (name === undefined) return undefined;
  return endings[language]?.includes(extname(name)) === true ? name : undefined;
}
