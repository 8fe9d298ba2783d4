// Limits of the reference page for any document, however large or malformed.

export const bounds = {
  /** Chained references, and parts that one schema may be composed of. */
  refHopsMax: 16,
  partsMax: 64,
  /** Displayed nesting of a schema; deeper levels are only mentioned. */
  schemaDepthMax: 6,
  /** Rows of one schema, properties considered, and rows of all schemas of the page. */
  schemaRowsMax: 250,
  propertiesMax: 500,
  pageRowsMax: 20_000,
  /** Nesting and number of values of an example. */
  sampleDepthMax: 8,
  sampleValuesMax: 200,
  /** Characters of one value and of one description. */
  valueCharsMax: 600,
  descriptionCharsMax: 20_000,
  /** Enum values listed, and warnings shown without being expanded. */
  valuesShownMax: 24,
  warningsOpenMax: 3,
  warningsMax: 200,
} as const;
