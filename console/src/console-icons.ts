// Icons of the console that the portal does not have: see components/icon.tsx.

export const consoleDrawings = {
  audit: 'M3 1.8h10v12.4H3zM5.6 5h4.8M5.6 8h4.8M5.6 11h2.6',
  contract: 'M3.5 1.8h6l3 3v9.4h-9zM9.5 1.8v3h3M5.8 8h4.4M5.8 10.8h4.4',
  customer: 'M8 2a2.8 2.8 0 1 0 0 5.6A2.8 2.8 0 0 0 8 2zM2.6 14a5.4 5.4 0 0 1 10.8 0',
  help: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM6.2 6.3a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.3M8 11.3v.2',
  overview: 'M2.2 13.8V8.4M6.1 13.8V2.6M10 13.8V6M13.8 13.8v-3.2',
  theme: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 4.4v7.2a3.6 3.6 0 0 0 0-7.2z',
} as const;
