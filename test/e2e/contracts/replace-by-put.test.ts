// A PUT subscribe request replaces the subscription of its resource: concurrent and repeated requests.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { receive } from '../receiver.ts';
import { quiet } from '../stage.ts';
import { documentOf, serve } from './stage.ts';

const hook = documentOf(`
/teams/{team}/hook:
  parameters: [{ name: team, in: path, required: true, schema: { type: string } }]
  put:
    parameters: [{ name: Idempotency-Key, in: header, schema: { type: string } }]
    requestBody:
      required: true
      content:
        application/json:
          schema: { required: [name], properties: { name: { type: string }, url: { type: string } } }
    responses: { '200': { description: replaced }, '201': { description: made } }
    callbacks:
      happened:
        '{$request.body#/url}': { post: { responses: { '200': { description: ok } } } }
  delete: { responses: { '204': { description: gone } } }
`);

describe('a PUT subscribe request', () => {
  it('leaves one active subscription of concurrent ones, and the other targets are not called', async () => {
    await using service = await serve(hook);
    const receivers = [await receive(), await receive(), await receive()];
    await using _closing = {
      [Symbol.asyncDispose]: async () => {
        for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
      },
    };
    const answers = await Promise.all(
      receivers.map(async ({ url }) => {
        const body = { name: 'n', url };
        return service.call({ method: 'PUT', path: '/teams/a/hook', body });
      }),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 201],
    );
    const states = await Promise.all(
      answers.map(async ({ json }) => service.stateOf(String(json['subscriberId']))),
    );
    assert.deepEqual(states.map(String).toSorted(), ['active', 'ended', 'ended']);
    for (let times = 0; times < 3; times += 1) {
      assert.equal(await service.deliveries('happened'), 1);
    }
    await quiet(service);
    const counts = receivers.map(({ requests }) => requests.length);
    assert.deepEqual(
      counts,
      states.map((state) => (state === 'active' ? 3 : 0)),
    );
    const ended = await service.call({ method: 'DELETE', path: '/teams/a/hook' });
    assert.equal(ended.status, 204);
    assert.equal(await service.deliveries('happened'), 0);
  });

  it('that is repeated with its Idempotency-Key gets the first response and changes nothing', async () => {
    await using service = await serve(hook);
    const put = async (key: string, url?: string) => {
      const { status, json } = await service.call({
        method: 'PUT',
        path: '/teams/a/hook',
        headers: { 'idempotency-key': key },
        body: { name: 'n', url },
      });
      return { status, json, id: String(json['subscriberId']) };
    };
    const url = 'http://127.0.0.1:9000/hook';
    const empty = await put('zero');
    const first = await put('one', url);
    assert.equal(first.status, 201);
    assert.deepEqual(await put('zero'), empty);
    assert.equal(await service.stateOf(first.id), 'active');
    assert.deepEqual(await put('one', url), first);
    const second = await put('two', `${url}/2`);
    assert.equal(second.status, 200);
    assert.deepEqual(await put('two', `${url}/2`), second);
    assert.deepEqual(await put('one', url), first);
    assert.equal((await put('two', url)).status, 422);
    assert.equal(await service.stateOf(first.id), 'ended');
    assert.equal(await service.stateOf(second.id), 'active');
    const cleared = await put('three');
    assert.equal(cleared.status, 200);
    assert.equal(await service.stateOf(second.id), 'ended');
    const third = await put('four', url);
    assert.equal(third.status, 201);
    assert.deepEqual(await put('three'), cleared);
    assert.equal((await put('three', url)).status, 422);
    assert.equal(await service.stateOf(third.id), 'active');
  });
});
