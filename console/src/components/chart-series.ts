// What is stacked, from the bottom to the top, and the words for it.
export const series = [
  { name: 'delivered', word: 'Delivered' },
  { name: 'retried', word: 'Retrying' },
  { name: 'dead', word: 'Dead' },
] as const;
