// What a runtime expression can see of one subscribe request, as plain values. The caller must
// strip every credential and leave out everything that the contract does not declare; nothing is
// filtered later.

export interface ExpressionInput {
  /** Absolute URL of the subscribe request, with its query, without security parameters. */
  url: string;
  /** In a callback target: the method of the callback request. */
  method: string;
  /** Status of the composed response. */
  statusCode?: number;
  request: Message;
  /** The composed response. */
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
