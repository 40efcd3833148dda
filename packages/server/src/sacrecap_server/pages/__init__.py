"""The pages: handlers that answer with HTML."""

from sacrecap_server.pages import annotate, entrance, preview, study_owner, study_people

ROUTES = (entrance.routes, study_owner.routes, study_people.routes, preview.routes, annotate.routes)
