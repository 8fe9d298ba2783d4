// A reader that executes the blocks of Markdown pages, in their order, in one folder.
//
// | block | action |
// |---|---|
// | `sh` | typed into one bash for all pages: variables and the folder are kept, the first failing line fails the page |
// | `sh fails` | the same; its last command must fail. curl fails here on 4xx and 5xx |
// | `sh terminal="service"` | typed into the terminal of that name; the previous program in it gets Ctrl-C. The next block must be its `output`, for which the reader waits |
// | `text output`, `json output` | compared with the output of the previous `sh` block; `…` stands for values that differ (matches-page.ts) |
// | `text output="service"` | awaited in that terminal |
// | with `title="shop.js"` or a first line `// shop.js` | written to that file |
// | `js`, `ts`, `py` | run; `json`, `yaml` parsed; `sql` passed to the option `sql`, `sql as="shop_app"` with the role that runs it |
// | `text` | not executed: the test must list it with the reason |
//
// In typed lines and written files `rbk_…`, `sub_…` and the like are replaced by the last printed value with that prefix.
// Ports are replaced by free ones. The reader must only connect to this machine.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { load } from 'js-yaml';
import { fileOf, readBlocks, type Block } from './code-blocks.ts';
import { freePort } from './free-ports.ts';
import { Shell, Terminal, type Env, type DocStage, type Ran } from './shell.ts';
import { isAsShown, jsonDifference, textPattern } from './matches-page.ts';

const root = join(import.meta.dirname, '..', '..');

export interface ReaderOptions {
  /** The initial folder. Default: an empty one, deleted with the reader. */
  folder?: string;
  /** The environment of the shells; its ports are replaced as in pages. */
  env?: Env;
  /** Folders to put before the machine's PATH. Node is included. */
  path?: readonly string[];
  /** Text of the pages → its replacement. Ports need not be listed. */
  replace?: Readonly<Record<string, string>>;
  /** `role` is undefined for the page's administrator, if the fence names none. */
  sql?: (text: string, role: string | undefined) => Promise<void>;
  /** Actual ports of running services, by the port that the pages name. */
  ports?: Readonly<Record<string, number>>;
}

export interface Reader extends AsyncDisposable {
  folder: string;
  /** Executes a page. `notRun`: the starts of blocks that are not executed, with the reasons. */
  read: (page: string, notRun?: Readonly<Record<string, string>>) => Promise<void>;
  /** Runs a line in the reader's shell; returns its output. */
  type: (line: string) => Promise<string>;
  /** The actual port for the one that the pages name. */
  port: (named: number) => Promise<number>;
}

/** The ports that the pages name. */
const namedPorts =
  /(?<![\w.-])(3000|8080|8081|8082|8083|8084|8085|8090|8091|8092|8093|8094|8095|8096|8443|9090)(?![\w-])/g;

/** Printed by curl only because it fails here on refusals, unlike on the reader's machine. */
const refusalLine = /^curl: \(22\) .*\n?/gm;

/** Ids, keys and secrets, which a person copies from the output. */
const copied = /\b(rbk|sub|evt|dlv|key|app|rpl|whsec|whpk)_[\w+/=-]{8,}/g;
const pasted = /\b(rbk|sub|evt|dlv|key|app|rpl|whsec|whpk)_…/g;

export async function startReader(options: ReaderOptions = {}): Promise<Reader> {
  const scratch = await mkdtemp(join(tmpdir(), 'ringback-reader-'));
  const folder = options.folder ?? join(scratch, 'folder');
  await mkdir(folder, { recursive: true });
  // On a terminal curl shows no progress meter, and a person notices a refusal; here a refusal must fail.
  await writeFile(join(scratch, '.curlrc'), 'silent\nshow-error\nfail-with-body\nnoproxy = "*"\n');
  const reader = new PageReader({ folder, scratch, env: envOf(scratch, options) }, options);
  return reader.start();
}

/** Passes only what a shell needs, so that no setting of the machine leaks into a test. */
function envOf(scratch: string, { env = {}, path = [] }: ReaderOptions): Env {
  const { PATH = '', NODE_COMPILE_CACHE = join(scratch, 'compiled') } = process.env;
  const programs = [...path, dirname(process.execPath), PATH].join(delimiter);
  const LANG = 'C.UTF-8';
  return { PATH: programs, HOME: scratch, TZ: 'UTC', LANG, NODE_COMPILE_CACHE, ...env };
}

class PageReader implements Reader {
  folder: string;
  #place: DocStage;
  #options: ReaderOptions;
  #shell: Shell | undefined;
  #terminals = new Map<string, Terminal>();
  #ports = new Map<string, string>();
  #seen = new Map<string, string>();
  /** The output of the last sh block. */
  #said = '';
  #count = 0;

  constructor(place: DocStage, options: ReaderOptions) {
    this.folder = place.folder;
    this.#place = place;
    this.#options = options;
    for (const [named, real] of Object.entries(options.ports ?? {})) {
      this.#ports.set(named, String(real));
    }
  }

  /** Replaces ports in the environment, too. */
  async start(): Promise<this> {
    const entries = Object.entries(this.#place.env).map(async ([name, value]) => {
      const isOurs = Object.hasOwn(this.#options.env ?? {}, name);
      return [name, isOurs ? await this.#real(value) : value] as const;
    });
    this.#place.env = Object.fromEntries(await Promise.all(entries));
    this.#shell = new Shell(this.#place);
    return this;
  }

  async #run(...args: Parameters<Shell['run']>): Promise<Ran> {
    if (this.#shell === undefined)
      throw new Error('Cannot type anything: the reader has no shell yet');
    return this.#shell.run(...args);
  }

  async read(page: string, notRun: Readonly<Record<string, string>> = {}): Promise<void> {
    const blocks = readBlocks(await readFile(join(root, page), 'utf8'));
    const unused = new Set(Object.keys(notRun));
    for (const [index, block] of blocks.entries()) {
      const start = [...unused].find((words) => block.text.startsWith(words));
      if (start !== undefined) unused.delete(start);
      else await this.#follow(page, block, blocks[index + 1]);
    }
    if (unused.size > 0) throw new Error(`${page} has no block: ${[...unused].join(', ')}`);
  }

  async type(line: string): Promise<string> {
    const { output, failure } = await this.#run({ page: 'test', line: 1, text: `${line}\n` });
    if (failure !== undefined) throw new Error(`Cannot run ${JSON.stringify(line)}: ${output}`);
    this.#remember(output);
    return output;
  }

  async port(named: number): Promise<number> {
    const known = this.#ports.get(String(named)) ?? String(await freePort());
    this.#ports.set(String(named), known);
    return Number(known);
  }

  async #follow(page: string, block: Block, next: Block | undefined): Promise<void> {
    const where = `${page}:${block.line}`;
    const { language, marks } = block;
    try {
      if (marks.has('output')) return await this.#compare(block, marks.get('output') ?? '');
      const file = fileOf(block);
      if (file !== undefined) return await this.#write(file, block.text);
      if (language === 'sh') return await this.#type(page, block, next);
      return await this.#runOther(page, block);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw Object.assign(new Error(`${where}: ${message}`), { stack: undefined });
    }
  }

  async #type(page: string, block: Block, next: Block | undefined): Promise<void> {
    const typed = { page, line: block.line + 1, text: await this.#real(block.text) };
    const name = block.marks.get('terminal');
    if (name !== undefined) {
      if (next?.marks.get('output') !== name) {
        throw new Error(
          `what goes on must show what to wait for: output="${name}" in the next block`,
        );
      }
      await this.#terminals.get(name)?.interrupt();
      const place = { ...this.#place, folder: await this.#here() };
      const terminal = await Terminal.start(place, typed, `${name}-${(this.#count += 1)}`);
      this.#terminals.set(name, terminal);
      return;
    }
    const mustFail = block.marks.has('fails');
    const { output, failure } = await this.#run(typed, { mayFail: mustFail });
    this.#remember(output);
    this.#said = output.replaceAll(refusalLine, '');
    if (mustFail && failure === undefined) throw new Error(`it must fail, and did not:\n${output}`);
    if (mustFail || failure === undefined) return;
    const { line, command } = failure;
    throw new Error(`line ${line} failed: ${command}\n${this.#named(output)}`);
  }

  async #compare({ language, text }: Block, name: string): Promise<void> {
    if (name !== '') return this.#await(name, text);
    const said = this.#named(this.#said);
    if (language === 'json') {
      const difference = jsonDifference(JSON.parse(text), JSON.parse(said));
      if (difference !== undefined) throw new Error(`${difference}\nThere came:\n${said}`);
    } else if (!isAsShown(text, said)) {
      throw new Error(`the page shows\n${text}\nThere came:\n${said}`);
    }
  }

  async #await(name: string, text: string): Promise<void> {
    const terminal = this.#terminals.get(name);
    if (terminal === undefined) throw new Error(`there is no terminal "${name}"`);
    // A running program may print more at any time, so only the shown part can be awaited.
    const shown = text.replace(/\n…\s*$/, '\n');
    const pattern = textPattern(await this.#real(shown, { pastes: false }));
    const hasCome = await terminal.shows((came) => {
      const match = pattern.exec(came);
      if (match === null) return undefined;
      const end = match.index + match[0].length;
      // The line may be incomplete: an id is only copied once it is complete.
      return came[end] === '\n' ? end : undefined;
    });
    this.#remember(terminal.text());
    if (hasCome) return;
    throw new Error(`"${name}" ended and did not show\n${text}\nThere came:\n${terminal.text()}`);
  }

  async #write(file: string, text: string): Promise<void> {
    const path = join(await this.#here(), file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, await this.#real(text));
  }

  async #runOther(page: string, block: Block): Promise<void> {
    const { language, text } = block;
    const runner = runners[language];
    if (runner !== undefined) {
      const file = join(this.#place.scratch, `block-${(this.#count += 1)}`);
      await writeFile(file, await this.#real(text));
      return this.#type(page, { ...block, text: `${runner} < ${file}\n` }, undefined);
    }
    if (language === 'json') return void JSON.parse(text);
    if (language === 'yaml') return void load(text);
    if (language === 'sql' && this.#options.sql !== undefined) {
      return this.#options.sql(await this.#real(text), block.marks.get('as'));
    }
    throw new Error(`nobody knows how to execute ${JSON.stringify(language)}: name it in notRun`);
  }

  /** The shell's current folder, in which terminals are opened and files are written. */
  async #here(): Promise<string> {
    return (await this.type('pwd')).trim();
  }

  #remember(output: string): void {
    for (const [found, prefix = ''] of output.matchAll(copied)) this.#seen.set(prefix, found);
  }

  /** The page's text with actual ports and pasted values. */
  async #real(text: string, { pastes = true } = {}): Promise<string> {
    let real = text;
    for (const [from, to] of Object.entries(this.#options.replace ?? {})) {
      real = real.replaceAll(from, to);
    }
    for (const [named] of text.matchAll(namedPorts)) await this.port(Number(named));
    real = real.replaceAll(namedPorts, (named) => this.#ports.get(named) ?? named);
    if (!pastes) return real;
    return real.replaceAll(pasted, (found, prefix: string) => this.#seen.get(prefix) ?? found);
  }

  /** The output with the page's ports. */
  #named(came: string): string {
    let named = came;
    for (const [port, real] of this.#ports) named = named.replaceAll(real, port);
    for (const [from, to] of Object.entries(this.#options.replace ?? {})) {
      named = named.replaceAll(to, from);
    }
    return named;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#terminals.values()) await terminal[Symbol.asyncDispose]();
    await this.#shell?.[Symbol.asyncDispose]();
    await rm(this.#place.scratch, { recursive: true, force: true });
  }
}

/** Commands that run a block from standard input, in the current folder. */
const runners: Readonly<Record<string, string>> = {
  js: 'node --input-type=module',
  ts: 'node --input-type=module-typescript',
  py: 'python3',
  python: 'python3',
};
