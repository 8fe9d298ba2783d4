// What was repaired, ignored or cannot run in a document, and where.

export interface Warning {
  /** Where in the document, `#/paths/~1x`; in another of its files: `common.yaml#/a/b`. */
  pointer: string;
  message: string;
}
