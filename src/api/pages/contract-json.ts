// What the service publishes about a contract as JSON: the events that can be published, and the
// report.
import { bounds } from '../../contract/document/bounds.ts';
import { printTemplate } from '../../contract/expression/template.ts';
import type { Contract } from '../../contract/model/contract.ts';
import { makeReport } from '../../contract/report/report.ts';
import { definitionsOf } from '../../contract/request/payload.ts';
import { contractWork, outOfWork, sampleOf } from '../../contract/sample/sample.ts';
import type { WorkBudget } from '../../contract/schema/step-budget.ts';
import type { Validator } from '../../contract/schema/schema.ts';

/** The items of a JSON list. If callbacks share a large schema, the list can be many times as large as the document. */
export function listEventTypes(contract: Contract): string {
  const work = contractWork();
  let weightLeft: number = bounds.schemasShownWeightMax;
  const items = definitionsOf(contract).map(({ label, event, payload, mediaType }) => {
    weightLeft -= payload?.weight() ?? 0;
    return JSON.stringify({
      event: printTemplate(event),
      source: 'callback',
      state: 'active',
      callback: label,
      contract: contract.title,
      mediaType,
      schema: weightLeft < 0 ? undefined : payload?.schema(),
      ...(payload === undefined ? {} : exampleOf(payload, work)),
    });
  });
  const webhooks = contract.webhooks.map(({ event, payload, mediaType, ...webhook }) => {
    weightLeft -= payload?.weight() ?? 0;
    return JSON.stringify({
      event,
      source: 'webhook',
      description: webhook.description,
      state: webhook.isDeprecated ? 'deprecated' : 'active',
      callback: event,
      contract: contract.title,
      mediaType,
      schema: weightLeft < 0 ? undefined : payload?.schema(),
      ...(payload === undefined ? {} : exampleOf(payload, work)),
    });
  });
  return [...items, ...webhooks].join(',');
}

/** The first valid example of the document, otherwise one made from the schema. */
function exampleOf(payload: Validator, work: WorkBudget): { example?: unknown; note?: string } {
  const sample = sampleOf(payload, work);
  if (sample.kind === 'sample') return { example: sample.value };
  return sample.why === outOfWork ? { note: outOfWork } : {};
}

export function reportJson(contract: Contract): string {
  // The location of the document on this machine is not published; names of files relative to it are.
  const { file: _file, warnings, ...report } = makeReport(contract, '');
  const placed = warnings.map(({ file, ...warning }) =>
    file === '' ? warning : { ...warning, file },
  );
  return JSON.stringify({ ...report, warnings: placed });
}
