// The stacked series from bottom to top, with their labels.
export const series = [
  { name: 'delivered', word: 'Delivered' },
  { name: 'retried', word: 'Retried' },
  { name: 'dead', word: 'Dead' },
] as const;
