// What one document may cost this page, however large or crooked it is.

export const bounds = {
  /** References that lead to references, and parts that one schema may be put together from. */
  refHopsMax: 16,
  partsMax: 64,
  /** Nesting of a schema as shown; deeper levels are only named. */
  schemaDepthMax: 6,
  /** Lines of one schema, properties that are looked at, and lines of all schemas of the page. */
  schemaRowsMax: 250,
  propertiesMax: 500,
  pageRowsMax: 20_000,
  /** Nesting and values of an example. */
  sampleDepthMax: 8,
  sampleValuesMax: 200,
  /** Characters of one value, and of one description. */
  valueCharsMax: 600,
  descriptionCharsMax: 20_000,
  /** Values of an enum that are listed, and warnings that are shown without being asked for. */
  valuesShownMax: 24,
  warningsOpenMax: 3,
  warningsMax: 200,
} as const;
