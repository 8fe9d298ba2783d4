// The event patterns of a callback in one column, separated by spaces. A space in a pattern is
// percent-encoded, and so is the percent sign.

export function writePatterns(patterns: readonly string[]): string {
  return patterns.map(writePattern).join(' ');
}

export function writePattern(pattern: string): string {
  return pattern.replaceAll('%', '%25').replaceAll(' ', '%20');
}

export function readPatterns(text: string): string[] {
  return text.split(' ').map((one) => one.replaceAll('%20', ' ').replaceAll('%25', '%'));
}
