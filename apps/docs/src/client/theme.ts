/** Loaded before the page is painted: the theme that was chosen here before. */
const chosen = localStorage.getItem('dormouse-theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
