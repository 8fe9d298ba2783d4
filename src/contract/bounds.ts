// The limits of this floor: what one OpenAPI document, however it was made, may cost us.

export const bounds = {
  /** One file of a contract. The largest real one we know has 12 MB. */
  documentBytesMax: 32 * 1_048_576,
  /** Files that one contract may be spread over. */
  documentsMax: 512,
  /** References that lead to references. */
  refHopsMax: 32,
  /** Schemas nested in each other without a reference, and schemas that one value may reach. */
  schemaDepthMax: 128,
  schemasMax: 10_000,
  /** Faults that one request is told of. */
  faultsMax: 32,
  /** Values of an enum that a message lists, and characters of a value that it quotes. */
  valuesShownMax: 20,
  quotedCharsMax: 60,
  /** Brackets of a deepObject parameter: `filter[a][b]` has two. */
  bracketsMax: 5,
  /** Keys and items whose places are noted down while a warning's line is looked for. */
  positionsMax: 2_000_000,
  /** Making an example: values tried, values in one, choices at one place, depth, a text's length. */
  sampleTriesMax: 300,
  sampleValuesMax: 400,
  sampleOptionsMax: 8,
  sampleDepthMax: 48,
  sampleCharsMax: 20_000,
} as const;
