// Checks the settings, OTEL_* included: reports every error and warning that a start would.
import { readConfig, type Config, type Environment } from '../../config.ts';
import { readTracing } from '../../tracing/settings.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

/** The config is undefined if there are errors; then nothing that needs it can be checked. */
export function checkSettings(env: Environment): {
  config: Config | undefined;
  findings: Finding[];
} {
  const reading = readConfig(env);
  const ofTracing = checkTracing(env);
  const remedy =
    'docs/settings.md lists all settings; each is an environment variable and an option';
  if (reading.kind === 'mistakes') {
    const findings = reading.mistakes.map((message) => failed('settings', { message, remedy }));
    return { config: undefined, findings: [...findings, ...ofTracing] };
  }
  const warnings = reading.warnings.map((message) => warning('settings', { message, remedy }));
  const troubles = [...ofTracing, ...warnings];
  const findings = troubles.length > 0 ? troubles : [ok('settings', 'all valid')];
  return { config: reading.config, findings };
}

function checkTracing(env: Environment): Finding[] {
  const reading = readTracing(env);
  const remedy =
    'docs/operations.md, section Traces, lists the OpenTelemetry variables that are read';
  const mistakes = reading.kind === 'mistakes' ? reading.mistakes : [];
  return mistakes.map((message) => failed('settings', { message, remedy }));
}
