// The limits of this floor: what one OpenAPI document, however it was made, may cost us.

export const bounds = {
  /**
   * All files of a contract together: bytes, and values and keys as they are written. The largest real
   * one we know has 12 MB. Measured: 10 MB of ordinary YAML has 1.2 million nodes and takes 1.2 s of
   * CPU to read; the slowest kind, an anchor on every value, 1.6 million in 3.0 s. JSON: 0.1 s.
   */
  documentBytesMax: 32 * 1_048_576,
  documentNodesMax: 2_000_000,
  /** Values in values, and characters, once every YAML alias stands for a copy. */
  documentDepthMax: 200,
  documentCharsMax: 64 * 1_048_576,
  /** Files that one contract may be spread over, and how often a file that changes is read again. */
  documentsMax: 512,
  readTriesMax: 3,
  /** References that lead to references. */
  refHopsMax: 32,
  /** Values that are looked at while a document is compiled. */
  stepsMax: 3_000_000,
  /** Operations of a contract, and callbacks that they declare. */
  operationsMax: 20_000,
  callbacksMax: 10_000,
  /** Warnings that are kept. */
  warningsMax: 1_000,
  /** Schemas nested in each other without a reference. */
  schemaDepthMax: 128,
  /**
   * What one schema and all that it refers to may become as code: a point for each keyword, and for each
   * list of n members or branches n²/50. Measured: 20,000 points take at most 2 s to compile.
   */
  schemaWeightMax: 20_000,
  /**
   * A schema that refers to more others than this is compiled at load, the rest when needed. All that are compiled at
   * load together may weigh so much; without it, 500 schemas that reach each other took minutes.
   */
  schemasLateMax: 200,
  compileWeightMax: 5_000,
  /** Schemas that lead to each other about the same value. */
  schemaHopsMax: 1_000,
  /** Steps of one check of a value, and of saying what is wrong with it. Measured: 5 to 50 ns each. */
  checkStepsMax: 5_000_000,
  explainStepsMax: 1_000_000,
  /**
   * Regular expressions: characters, and instructions that one becomes. What matching has found out is
   * remembered, for all of them together, up to so many instructions and characters.
   */
  regexCharsMax: 4_096,
  regexSizeMax: 5_000,
  regexMemoryMax: 2_000_000,
  regexStepsKeptMax: 256,
  /** Steps of leaving out of an answer what is write-only. */
  writeOnlyStepsMax: 300_000,
  /** Names of events for which it is remembered who can hear them. */
  eventNamesKeptMax: 1_000,
  /** Errors that are kept of the items of one list, or the members of one object; and faults that an answer lists. */
  errorsMax: 100,
  faultsMax: 32,
  /** Values of an enum that a message lists, and characters of a value that it quotes. */
  valuesShownMax: 20,
  quotedCharsMax: 60,
  /** Parts of one text that is a list or an object: `a,b,c`. */
  itemsMax: 10_000,
  /**
   * Fields of a form, or parts of a multipart body, and lines of it that only begin like the one between parts;
   * headers of a part; the line between them.
   */
  fieldsMax: 1_000,
  partHeadBytesMax: 8_192,
  boundaryCharsMax: 70,
  /** Brackets of a deepObject parameter: `filter[a][b]` has two. */
  bracketsMax: 5,
  /** Keys and items whose places are noted down while a warning's line is looked for. */
  positionsMax: 2_000_000,
  /**
   * What examples may cost, in the steps of a check: one example, and all of one contract. To read a schema, to compile
   * it and to make a piece of a value are paid in steps too. Measured: a step takes 10 to 50 ns, a point of a schema's
   * weight 2 to 10 µs to read and 20 to 200 µs to compile, a schema 2 ms at least.
   */
  sampleStepsMax: 20_000_000,
  contractSampleStepsMax: 60_000_000,
  readStepsEach: 200,
  compileStepsEach: 3_500,
  compileStepsLeast: 70_000,
  sampleStepsEach: 100,
  printStepsEach: 5,
  /** What the example may cost that the program prints at its start. */
  greetingStepsMax: 10_000_000,
  /** Weight of all schemas that a list of event types shows: some 20 MB. */
  schemasShownWeightMax: 500_000,
  /** Making an example: values tried, optional and all values in one, choices at one place, depth, a text's length. */
  sampleTriesMax: 300,
  sampleValuesMax: 400,
  sampleValuesAllMax: 4_000,
  sampleOptionsMax: 8,
  sampleDepthMax: 48,
  sampleCharsMax: 20_000,
} as const;
