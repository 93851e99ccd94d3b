(() => {
  // A plan may be on the page several times, and each view brings this along: each is made ready once.
  for (const view of document.querySelectorAll('.substrait-plan:not([data-ready])')) {
    view.dataset.ready = '';
    const relations = [...view.querySelectorAll('.relation')];
    const places = [...view.querySelectorAll('.relation, .same')];
    const tools = document.createElement('div');
    tools.className = 'tools';
    // JupyterLab takes keys for commands, even those that are typed into a field, unless it is told not to.
    tools.dataset.lmSuppressShortcuts = 'true';
    tools.addEventListener('keydown', event => event.stopPropagation());
    const add = (tag, properties) => tools.appendChild(Object.assign(document.createElement(tag), properties));
    const fold = open => () => relations.forEach(relation => { relation.open = open; });
    add('button', {type: 'button', textContent: 'Expand all', onclick: fold(true)});
    add('button', {type: 'button', textContent: 'Fold all', onclick: fold(false)});
    const field = add('input', {type: 'search', placeholder: 'Find a column or a table'});
    field.setAttribute('aria-label', field.placeholder);
    const said = add('output', {});
    view.insertBefore(tools, view.querySelector('.root'));

    const unfold = place => {
      for (let above = place.parentElement; above !== view; above = above.parentElement)
        if (above.tagName === 'DETAILS') above.open = true;
    };
    const show = place => {
      view.querySelectorAll('.current').forEach(other => other.classList.remove('current'));
      place.classList.add('current');
      unfold(place);
      place.querySelector('summary, b').scrollIntoView({block: 'nearest'});
    };
    view.addEventListener('click', event => {
      const to = event.target.closest('a[href^="#substrait-"]');
      if (!to) return;
      event.preventDefault();  // the page's address stays
      const place = places.find(relation => relation.id === to.hash.slice(1));
      show(place);
      place.querySelector('summary').focus();
    });

    const own = place => {
      const inside = place.querySelector(':scope > .inside');
      const head = place.querySelector(':scope > summary') || place;
      return `${head.title} ${head.textContent} ${inside ? inside.textContent : ''}`.toLowerCase();
    };
    let hits = [], at = 0, texts = null;
    const tell = () => {
      said.textContent = !field.value ? '' : hits.length ? `${at + 1} of ${hits.length}` : 'nothing found';
      if (hits.length) show(hits[at]);
    };
    field.addEventListener('input', () => {
      texts = texts || places.map(own);
      const wanted = field.value.trim().toLowerCase();
      hits = wanted ? places.filter((_, index) => texts[index].includes(wanted)) : [];
      at = 0;
      places.forEach(place => place.classList.remove('hit', 'current'));
      hits.forEach(place => { unfold(place); place.classList.add('hit'); });
      tell();
    });
    field.addEventListener('keydown', event => {
      if (event.key !== 'Enter' || !hits.length) return;
      event.preventDefault();
      at = (at + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
      tell();
    });
  }
})();
