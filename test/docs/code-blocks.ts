// The fenced blocks of a Markdown page: what each is written in, what its fence is marked with, and where it stands.
// Marks come behind the language, where GitHub shows nothing of them: ```sh terminal="service"
import { extname } from 'node:path';

export interface Block {
  /** As in ```sh. Empty where the fence says nothing. */
  language: string;
  text: string;
  /** Of the fence, in the page; the text begins in the next one. */
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

/** How files of a language end, so that a first line is not taken for a name by chance. */
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

/** The file that a block is to become: `title="shop.js"`, or a first line such as `// shop.js`. */
export function fileOf({ language, text, marks }: Block): string | undefined {
  const title = marks.get('title');
  if (title !== undefined) return title;
  const [, name] = /^(?:\/\/|#|--) ([\w./-]+)\n/.exec(text) ?? [];
  if (name === undefined) return undefined;
  return endings[language]?.includes(extname(name)) === true ? name : undefined;
}
