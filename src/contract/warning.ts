// What was repaired, ignored or cannot run in a document, and where.

export interface Warning {
  /** Where in the document, `#/paths/~1x`; of another file of it: `common.yaml#/a/b`. */
  pointer: string;
  message: string;
}
