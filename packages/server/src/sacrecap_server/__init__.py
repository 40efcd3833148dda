"""Servers of one owner: human studies, and the door of a contest. One process, one SQLite file.

`create_app(ServerSettings(…))` in `app.py` is the application of studies; nothing happens at import. From top to
ground, each imports what stands lower only; every module says what it does:

    cli                  `sacrecap study`, `sacrecap contest`, `sacrecap submit`
    app                  routes, what errors become, and serving until it is told to end
    pages, api           HTML, by subject; JSON under /api/v1
    web                  routes, the context of a request, what requests share, limits around them
    studies              human studies (`sacrecap_studies` knows what they ask)
    store                the database, its tables, files
    settings, log        what the owner chooses; the log

**A page**: a function in a module of `pages/`, whose `routes` `create_app` has:

    @routes.page("/studies/{study_id}", role=Role.OWNER)                 # GET; methods=("POST",) for a form
    def study_page(context: Context, study_id: int) -> Response:
        with context.database.read() as session:
            study = repository.find(session, study_id)
        return context.render("study.html", study=study)

Handlers are plain functions (they run in threads). They do what they do in one transaction and answer *after* the
block: `with context.database.write() as session` has committed, to the disk, when it ends. Load what the template needs
inside the block (relationships are `lazy="raise"`). Refuse with `Refused(422, "…", problems)`; what a caller must not
know to exist is `not_found`. Forms carry `{{ forms.csrf(context) }}`; scripts send `X-CSRF-Token`. After a form,
`context.redirect(path, "key of NOTICES")`. Parameters are FastAPI's (`Annotated[str, Form(max_length=…)]`,
`UploadFile`, path and query). A part of a path that the handler takes as `int` is one to nine digits.

**An API route**: `@routes.api("/studies/{id}")` in `api.py`, returning a pydantic model; errors have one shape.

**Who**: ANYONE < OWNER, who shows a token: programs in each request, browsers once, for a cookie. Annotators have a
cookie of their own: below `/s/`, `context.cookie_hash` is what to store to know a browser again (it sets the cookie
when there is none), and the CSRF token works with it too.

**A table**: a class in `store/schema.py`; `Database.prepare` makes it. What a column holds about people, its
`doc` says.

**Long work** on many answers runs in a child process: see `studies.results`.

**Content Security Policy**: no inline script or style, nothing from elsewhere. A page that shows images of other
sites sets `context.policy`, which is kept.

**Tests** (`packages/server/tests`): the fixture `world` is a server of studies in the process. `world.browser(OWNER)`
is signed in; its `get(path)` and `post(path, field=…)` send forms with their CSRF token; `world.api(OWNER)` shows the
token. Tests that open pages share one real server, `site`, and make there what they show. `test_roles.py` walks every
route by itself: a path parameter needs an example value in `SAMPLES` there.
"""
