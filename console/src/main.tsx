// The console's first line: puts the page into the document. It never writes markup from text.
import { render } from 'preact';

const place = document.getElementById('console');
if (place !== null) render(<h1>Ringback</h1>, place);
