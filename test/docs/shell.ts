// Terminals as a reader of a page has them: one bash in which block after block is typed, and others in which
// something runs on. Lines keep the numbers that they have in the page, so that bash itself names the place.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A net under a test that would hang: no test that passes comes near it. */
const patienceMs = 180_000;

export type Env = Readonly<Record<string, string>>;

export interface DocStage {
  /** Where the person stands. */
  folder: string;
  /** For what is typed, out of the person's sight. */
  scratch: string;
  env: Env;
}

export interface Typed {
  page: string;
  /** Of the first line of `text`. */
  line: number;
  text: string;
}

export interface Ran {
  output: string;
  /** Undefined when every line worked. */
  failure: { line: number; command: string } | undefined;
}

/** Output as it comes, stdout and stderr in one, as on a screen. */
class Screen {
  #text = '';
  #listeners = new Set<() => void>();
  #child: ChildProcess;
  ended: Promise<number | string>;

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.#text += chunk;
        for (const listener of this.#listeners) listener();
      });
    }
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(code ?? String(signal)));
    });
    void this.ended.then(
      () => this.#listeners.forEach((listener) => listener()),
      () => undefined,
    );
  }

  text(): string {
    return this.#text;
  }

  /** What `find` finds, as soon as it is there; undefined when the process has ended without. */
  async until<T>(find: (text: string) => T | undefined): Promise<T | undefined> {
    const found = Promise.withResolvers<T | undefined>();
    const look = (): void => {
      const result = find(this.#text);
      if (result !== undefined) found.resolve(result);
    };
    this.#listeners.add(look);
    const giveUp = AbortSignal.timeout(patienceMs);
    giveUp.addEventListener('abort', () =>
      found.reject(new Error(`It ran on and on, and did not come:\n${this.#text}`)),
    );
    look();
    this.ended.then(() => {
      look();
      found.resolve(undefined);
    }, found.reject);
    try {
      return await found.promise;
    } finally {
      this.#listeners.delete(look);
    }
  }

  /** To all that was started in it, as the keyboard does. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) signalGroup(pid, signal);
    const hard = setTimeout(() => pid !== undefined && signalGroup(pid, 'SIGKILL'), patienceMs / 6);
    await this.ended;
    clearTimeout(hard);
    if (pid !== undefined) signalGroup(pid, 'SIGKILL'); // What a script left behind in the background.
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}

/** The one in which block after block is typed: variables and folders stay. */
export class Shell implements AsyncDisposable {
  #place: DocStage;
  #child: ChildProcess;
  #screen: Screen;
  #count = 0;

  constructor(place: DocStage) {
    this.#place = place;
    this.#child = startBash(place, ['--norc', '--noprofile']);
    this.#screen = new Screen(this.#child);
    this.#child.stdin?.on('error', () => undefined); // Its end is seen by whoever waits for output.
    this.#child.stdin?.write('exec 2>&1; set -eE -o pipefail\n');
  }

  /** Up to the first line that fails. With `mayFail` all lines run, and it fails as its last one does. */
  async run(typed: Typed, { mayFail = false } = {}): Promise<Ran> {
    const file = await writeTyped(this.#place, typed, (this.#count += 1));
    const mark = randomBytes(8).toString('hex');
    const from = this.#screen.text().length;
    const line = mayFail
      ? `if source ${file} </dev/null; then printf '\\n${mark} 0 \\n'; else printf '\\n${mark} 1 \\n'; fi\n`
      : `trap 'printf "\\n${mark} %s %s\\n" "$LINENO" "$BASH_COMMAND"' ERR; ` +
        `source ${file} </dev/null; trap - ERR; printf '\\n${mark} 0 \\n'\n`;
    this.#child.stdin?.write(line);
    const pattern = new RegExp(`([^]*)\\n${mark} (\\d+) (.*)\\n`);
    const match = await this.#screen.until((text) => pattern.exec(text.slice(from)) ?? undefined);
    const [, output = '', failed, command = ''] = match ?? [];
    if (match === undefined) {
      const last = this.#screen.text().slice(from).replaceAll(file, typed.page);
      return { output: last, failure: { line: typed.line, command: 'the shell has ended' } };
    }
    const failure = failed === '0' ? undefined : { line: Number(failed), command };
    return { output: output.replaceAll(file, typed.page), failure };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#screen.end('SIGKILL');
  }
}

/** One in which something runs on. A new one has no variables of the others. */
export class Terminal implements AsyncDisposable {
  #screen: Screen;
  /** What was looked at already. */
  #from = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  static async start(place: DocStage, typed: Typed, name: string): Promise<Terminal> {
    const file = await writeTyped(place, typed, name);
    return new Terminal(new Screen(startBash(place, ['--norc', '--noprofile', '-e', file])));
  }

  /** Waits until something that fits has come since the last time. Undefined when it ended without. */
  async shows(isThere: (text: string) => number | undefined): Promise<boolean> {
    const end = await this.#screen.until((text) => isThere(text.slice(this.#from)));
    if (end === undefined) return false;
    this.#from += end;
    return true;
  }

  text(): string {
    return this.#screen.text();
  }

  /** Ctrl-C. */
  async interrupt(): Promise<void> {
    await this.#screen.end('SIGINT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#screen.end('SIGTERM');
  }
}

function startBash({ folder, env }: DocStage, args: readonly string[]): ChildProcess {
  return spawn('bash', args, { cwd: folder, env, stdio: 'pipe', detached: true });
}

/** Behind as many empty lines as the page has before it. */
async function writeTyped(
  { scratch }: DocStage,
  typed: Typed,
  name: number | string,
): Promise<string> {
  const file = join(scratch, `typed-${name}`);
  await writeFile(file, `${'\n'.repeat(typed.line - 1)}${typed.text}`);
  return file;
}
