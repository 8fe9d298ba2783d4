// What a runtime expression can see of one subscribe call, as plain values. The caller strips every
// credential and leaves out whatever the contract does not declare; nothing is filtered after this.

export interface Exchange {
  /** Absolute URL of the subscribe request, query included, security parameters stripped. */
  url: string;
  /** In a callback target: the method of the callback request. */
  method: string;
  /** Of the composed answer. */
  statusCode?: number;
  request: Message;
  /** The composed answer. */
  response?: Message;
}

export interface Message {
  /** Names in lower case; only declared headers, plus accept and content-type. */
  header: ReadonlyMap<string, string>;
  /** Decoded and coerced values of the declared parameters. */
  query: ReadonlyMap<string, unknown>;
  path: ReadonlyMap<string, unknown>;
  /** Parsed JSON or a decoded form; undefined when there is none. */
  body: unknown;
}
