// A field on the page of what is supported that leaves those functions in its tables whose row has all of its words.
const place = document.querySelector('.filter-functions');
if (place) {
  const rows = [...document.querySelectorAll('table')].filter(table => table.querySelector('th').textContent === 'Function')
    .flatMap(table => [...table.tBodies[0].rows]);
  const texts = rows.map(row => row.textContent.toLowerCase());
  const field = Object.assign(document.createElement('input'), {type: 'search', placeholder: 'Filter: date refused'});
  field.setAttribute('aria-label', 'Filter the functions');
  const said = document.createElement('output');
  place.append(field, said);
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    rows.forEach((row, index) => { row.hidden = !words.every(word => texts[index].includes(word)); });
    const left = rows.filter(row => !row.hidden).length;
    said.textContent = words.length ? `${left} of ${rows.length} functions` : '';
    for (const table of new Set(rows.map(row => row.closest('table')))) {
      const empty = [...table.tBodies[0].rows].every(row => row.hidden);
      const shown = table.closest('.md-typeset__scrollwrap') || table;
      shown.hidden = empty;
      if (/^H\d$/.test(shown.previousElementSibling?.tagName)) shown.previousElementSibling.hidden = empty;
    }
  });
}
