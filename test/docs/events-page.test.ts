// docs/events.md shows every system event as the program lists it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ownEvents } from '../../src/core/domain/system-event.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'events.md'), 'utf8');

it('docs/events.md has each system event with its description and example', () => {
  const sections = page.split(/^## /m).slice(1);
  assert.equal(sections.length, ownEvents.length);
  for (const [index, { event, description, example }] of ownEvents.entries()) {
    const section = sections[index] ?? '';
    assert(section.startsWith(`\`${event}\`\n\n${description}\n`), event);
    const [, json = ''] = /```json\n([\s\S]*?)```/.exec(section) ?? [];
    assert.deepEqual(JSON.parse(json), example);
  }
});
