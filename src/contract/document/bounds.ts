// Limits on the cost of one OpenAPI document.

export const bounds = {
  /**
   * All files of a contract together: bytes, and values and keys as written. The largest real one
   * known has 12 MB. 10 MB of ordinary YAML are about a million nodes and a second of CPU time;
   * JSON takes a tenth of that.
   */
  documentBytesMax: 32 * 1_048_576,
  documentNodesMax: 2_000_000,
  /** Nesting, and characters, once every YAML alias is expanded. */
  documentDepthMax: 200,
  documentCharsMax: 64 * 1_048_576,
  /** Files of one contract, and how often a file that is being changed is read again. */
  documentsMax: 512,
  readTriesMax: 3,
  /** Length of a chain of references. */
  refHopsMax: 32,
  /** Values that are visited while a document is compiled. */
  stepsMax: 3_000_000,
  /** Operations of a contract, and callbacks that they declare. */
  operationsMax: 20_000,
  callbacksMax: 10_000,
  /** Warnings that are kept. */
  warningsMax: 1_000,
  /** Nesting of schemas without a reference. */
  schemaDepthMax: 128,
  /**
   * Members or branches of one keyword of a schema. A check may have to read all of them, which takes up to half of the
   * steps that a check has.
   */
  schemaMembersMax: 1_000,
  /** Schemas that one schema refers to, with their keywords. */
  schemaWeightMax: 20_000,
  /** Schemas that refer to each other for the same value. */
  schemaHopsMax: 1_000,
  /**
   * Steps of one check of a value, and of each of two searches for its faults; and of all checks of one request with
   * their searches. A step takes at most 17 ns, measured with the most expensive schemas and values, so no request
   * occupies the event loop for more than 35 ms.
   */
  checkStepsMax: 2_000_000,
  requestStepsMax: 2_000_000,
  explainStepsMax: 1_000_000,
  /** Schemas that apply to one another while a value is checked: each takes up to 1 kB of the stack. */
  checkDepthMax: 600,
  /**
   * Regular expressions: characters, and instructions of one. Match results are cached for all of
   * them together, up to a total number of instructions and characters.
   */
  regexCharsMax: 4_096,
  regexSizeMax: 5_000,
  regexMemoryMax: 2_000_000,
  regexStepsKeptMax: 256,
  /** Steps of removing writeOnly properties from one response. */
  writeOnlyStepsMax: 300_000,
  /** Event names for which the matching callbacks are cached. */
  eventNamesKeptMax: 1_000,
  /** Callbacks that one event may skip, which are stored with it; and characters of the reason for each. */
  skippedMax: 256,
  skipReasonCharsMax: 200,
  /**
   * Errors kept for the items of one list or the members of one object; and faults in one response.
   */
  errorsMax: 100,
  faultsMax: 32,
  /** Enum values listed in a message, and characters of a quoted value. */
  valuesShownMax: 20,
  quotedCharsMax: 60,
  /** Parts of a string that encodes a list or an object: `a,b,c`. */
  itemsMax: 10_000,
  /**
   * Form fields, or parts of a multipart body, including lines that only begin like a boundary;
   * header bytes of a part; characters of the boundary.
   */
  fieldsMax: 1_000,
  partHeadBytesMax: 8_192,
  boundaryCharsMax: 70,
  /** Brackets of a deepObject parameter: `filter[a][b]` has two. */
  bracketsMax: 5,
  /** Keys and items whose positions are recorded to find the line of a warning. */
  positionsMax: 2_000_000,
  /**
   * The cost of examples, in steps of a check: the limit for one example, and for all of one contract. Reading a schema,
   * compiling it and generating a part of a value cost steps too. Measured: a step takes 10 to 50 ns; one unit of a
   * schema's weight takes 2 to 10 µs to read and 20 to 200 µs to compile; a schema takes at least 2 ms.
   */
  sampleStepsMax: 20_000_000,
  contractSampleStepsMax: 60_000_000,
  readStepsEach: 200,
  sampleStepsEach: 100,
  printStepsEach: 5,
  /** Steps for the example that is printed at start. */
  greetingStepsMax: 10_000_000,
  /** Weight of all schemas in a list of event types: about 20 MB. */
  schemasShownWeightMax: 500_000,
  /** Schemas in the TypeScript type of one event, with references inlined; characters of a comment. */
  typedSchemasMax: 5_000,
  typedCommentCharsMax: 500,
  /**
   * Creating an example: values tried, optional and all values in one, choices at one place, depth, length of a text.
   */
  sampleTriesMax: 300,
  sampleValuesMax: 400,
  sampleValuesAllMax: 4_000,
  sampleOptionsMax: 8,
  sampleDepthMax: 48,
  sampleCharsMax: 20_000,
} as const;
