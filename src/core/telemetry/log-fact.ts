// The log function for the lines that a busy service writes most.

/**
 * Like `info` of the log, but for facts that contain only values made here: it does not search them
 * for secrets, which makes a line several times cheaper than through pino. Never pass text from
 * outside.
 */
export type LogFact = (facts: object, message: string) => void;
