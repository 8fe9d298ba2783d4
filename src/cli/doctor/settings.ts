// The settings: every mistake and every warning that a start would find.
import { readConfig, type Config, type Environment } from '../../config.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

/** The config is undefined when there are mistakes: then nothing that needs it can be looked at. */
export function checkSettings(env: Environment): {
  config: Config | undefined;
  findings: Finding[];
} {
  const reading = readConfig(env);
  const remedy = 'docs/settings.md lists all settings; each is a variable and a flag';
  if (reading.kind === 'mistakes') {
    const findings = reading.mistakes.map((message) => failed('settings', { message, remedy }));
    return { config: undefined, findings };
  }
  const warnings = reading.warnings.map((message) => warning('settings', { message, remedy }));
  const findings = warnings.length > 0 ? warnings : [ok('settings', 'all can be read')];
  return { config: reading.config, findings };
}
