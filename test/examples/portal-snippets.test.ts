// Runs the code that the customer portal offers for verifying signatures: it accepts what the public package
// `standardwebhooks` has signed, and refuses forgeries. Skipped with a reason if a language is not installed.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync, sign as signEd25519 } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { newFolder } from '../cli/ringback-process.ts';
import { header, receive } from '../e2e/receiver.ts';
import {
  callbackOf,
  commonForgeries,
  genuineParts,
  hmacForgeries,
  newId,
  newSecret,
  nowS,
  signHmac,
  type Callback,
  type Forgery,
  type Parts,
} from './forgeries.ts';

const code = join(import.meta.dirname, '../../console/portal/verify/code');
const run = promisify(execFile);

type Headers = Record<string, string>;

interface Request {
  headers: Headers;
  body: string;
}

/** Whether each request is accepted. */
type Judge = (file: string, secret: string, requests: readonly Request[]) => Promise<boolean[]>;

interface Language {
  extension: 'mjs' | 'py' | 'go';
  missing: (kind: 'hmac' | 'ed25519') => string | undefined;
  judge: Judge;
}

const languages: readonly Language[] = [
  { extension: 'mjs', missing: () => undefined, judge: byNode },
  {
    extension: 'py',
    missing: (kind) =>
      whyMissing('python3', kind === 'hmac' ? ['--version'] : ['-c', 'import cryptography']),
    judge: byPython,
  },
  { extension: 'go', missing: () => whyMissing('go', ['version']), judge: byGo },
];

for (const { extension, missing, judge } of languages) {
  describe(`hmac.${extension}`, { skip: missing('hmac') ?? false }, () => {
    it('accepts what standardwebhooks signs, and refuses forgeries', async () => {
      const secret = newSecret();
      const genuine = [
        genuineParts(secret),
        genuineParts(secret, nowS() - 200),
        withStranger(genuineParts(secret)),
      ].map(callbackOf);
      const forgeries = hmacForgeries(secret).filter(isRefusedByThePackage);
      assert.ok(forgeries.length >= 30, `${forgeries.length} forgeries`);
      await judgeAll(async (requests) => judge(`hmac.${extension}`, secret, requests), {
        genuine,
        forgeries,
      });
      for (const one of genuine) assert.ok(isAccepted(secret, asRequest(one)));
      function isRefusedByThePackage({ callback }: Forgery): boolean {
        return !isAccepted(secret, asRequest(callback));
      }
    });
  });

  describe(`ed25519.${extension}`, { skip: missing('ed25519') ?? false }, () => {
    it('accepts what the private key signs, and refuses forgeries', async () => {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519');
      const raw = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
      const secret = `whpk_${raw.toString('base64')}`;
      const sign = ({ id, timestampS, body }: Omit<Parts, 'signature'>): string => {
        const signed = Buffer.from(`${id}.${timestampS}.${body}`);
        return `v1a,${signEd25519(null, signed, privateKey).toString('base64')}`;
      };
      const parts = { id: newId(), timestampS: nowS(), body: '{"message":"ünïcode ✓"}' };
      const signed = { ...parts, signature: sign(parts) };
      // The public key is not a secret, so it must not work as one.
      const byPublicKey = signHmac(`whsec_${raw.toString('base64')}`, parts);
      const forgeries = [
        ...commonForgeries(sign).filter(({ kind }) => isOfOneRequest(kind)),
        ...[byPublicKey, byPublicKey.replace('v1', 'v1a')].map((signature) => ({
          kind: 'HMAC with the public key',
          callback: callbackOf({ ...parts, signature }),
        })),
      ];
      await judgeAll(async (requests) => judge(`ed25519.${extension}`, secret, requests), {
        genuine: [callbackOf(signed), callbackOf(withStranger(signed))],
        forgeries,
      });
    });
  });
}

const missingTool = whyMissing('sh', ['-c', 'command -v curl && command -v openssl']);

describe('hmac.sh', { skip: missingTool ?? false }, () => {
  it('sends a request that standardwebhooks and the code for Node verify', async () => {
    await using receiver = await receive();
    const secret = newSecret();
    const script = await readFile(join(code, 'hmac.sh'), 'utf8');
    const sent = script.replace(/^url=.*$/m, `url='${receiver.url}'`);
    assert.notEqual(sent, script);
    await run('sh', ['-c', sent], { env: { ...process.env, WEBHOOK_SECRET: secret } });
    const [request] = await receiver.waitFor(1);
    assert(request);
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    const headers = Object.fromEntries(names.map((name) => [name, header(request, name)]));
    const asSent = { headers, body: request.body.toString() };
    assert.ok(isAccepted(secret, asSent));
    assert.deepEqual(await byNode('hmac.mjs', secret, [asSent]), [true]);
  });
});

async function judgeAll(
  judge: (requests: readonly Request[]) => Promise<boolean[]>,
  { genuine, forgeries }: { genuine: readonly Callback[]; forgeries: readonly Forgery[] },
): Promise<void> {
  const requests = [...genuine, ...forgeries.map(({ callback }) => callback)].map(asRequest);
  const accepted = await judge(requests);
  assert.equal(accepted.length, requests.length);
  const kinds = [...genuine.map(() => 'genuine'), ...forgeries.map(({ kind }) => kind)];
  const wrong = kinds.filter((kind, at) => accepted[at] !== (kind === 'genuine'));
  assert.deepEqual(wrong, []);
}

/** As a server passes it on: repeated headers are joined. */
function asRequest({ headers, body }: Callback): Request {
  const all: Headers = {};
  for (const [name, value] of headers) {
    all[name] = name in all ? `${all[name]}, ${value}` : value;
  }
  return { headers: all, body };
}

function isAccepted(secret: string, { headers, body }: Request): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

/** The signed bytes of these are those of a genuine request, so no Standard Webhooks library refuses them. */
function isOfOneRequest(kind: string): boolean {
  return kind !== 'a dot in the webhook-id' && kind !== 'webhook-signature twice';
}

/** As during a rotation: the first signature is by a secret that this receiver does not have. */
function withStranger(parts: Parts): Parts {
  return { ...parts, signature: `v1a,AAAA ${signHmac(newSecret(), parts)} ${parts.signature}` };
}

async function byNode(
  file: string,
  secret: string,
  requests: readonly Request[],
): Promise<boolean[]> {
  type Verify = (headers: Headers, body: Buffer, secret: string) => void;
  const { verifyWebhook } = (await import(join(code, file))) as { verifyWebhook: Verify };
  return requests.map(({ headers, body }) => {
    try {
      verifyWebhook(headers, Buffer.from(body), secret);
      return true;
    } catch {
      return false;
    }
  });
}

async function byPython(
  file: string,
  secret: string,
  requests: readonly Request[],
): Promise<boolean[]> {
  const program = `
import json, runpy, sys
verify_webhook = runpy.run_path(sys.argv[1])["verify_webhook"]
def accepts(request):
    try:
        verify_webhook(request["headers"], request["body"].encode(), sys.argv[2])
        return True
    except Exception:
        return False
print(json.dumps([accepts(one) for one in json.load(sys.stdin)]))`;
  return answer(['python3', '-c', program, join(code, file), secret], requests);
}

async function byGo(
  file: string,
  secret: string,
  requests: readonly Request[],
): Promise<boolean[]> {
  await using folder = await newFolder();
  await mkdir(join(folder.path, 'webhooks'));
  await copyFile(join(code, file), join(folder.path, 'webhooks', file));
  await writeFile(join(folder.path, 'go.mod'), 'module example\n\ngo 1.21\n');
  await writeFile(
    join(folder.path, 'main.go'),
    `package main

import (
	"encoding/json"
	"os"

	"example/webhooks"
)

func main() {
	var requests []struct {
		Headers map[string]string
		Body    string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		panic(err)
	}
	accepted := []bool{}
	for _, one := range requests {
		header := func(name string) string { return one.Headers[name] }
		accepted = append(accepted, webhooks.Verify(header, []byte(one.Body), os.Args[1]) == nil)
	}
	json.NewEncoder(os.Stdout).Encode(accepted)
}
`,
  );
  return answer(['go', 'run', '.', secret], requests, folder.path);
}

/** Passes the requests to a program and reads what it prints. */
function answer(
  [command = '', ...args]: readonly string[],
  requests: readonly Request[],
  cwd?: string,
): boolean[] {
  const { stdout, stderr, status } = spawnSync(command, args, {
    input: JSON.stringify(requests),
    encoding: 'utf8',
    // Without network, because there are no dependencies.
    env: { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' },
    ...(cwd === undefined ? {} : { cwd }),
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as boolean[];
}

function whyMissing(command: string, args: readonly string[]): string | undefined {
  const { error, status } = spawnSync(command, args);
  const isThere = error === undefined && status === 0;
  return isThere ? undefined : `"${[command, ...args].join(' ')}" does not work here`;
}
